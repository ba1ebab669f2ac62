#include "base/platform/wait.h"

namespace tern::platform {

#ifdef __EMSCRIPTEN_PTHREADS__

// Emscripten's std::atomic::wait polls, so use WebAssembly's own wait. Not for a page's main thread, which may not
// sleep.
void sleep_while(std::atomic<uint32_t>& value, uint32_t seen) {
  constexpr int64_t kForever = -1;
  __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(&value), static_cast<int>(seen), kForever);
}
void wake_all(std::atomic<uint32_t>& value) {
  __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&value), UINT32_MAX);
}

#else  // a build without threads never sleeps

void sleep_while(std::atomic<uint32_t>& value, uint32_t seen) { value.wait(seen, std::memory_order_seq_cst); }
void wake_all(std::atomic<uint32_t>& value) { value.notify_all(); }

#endif

}  // namespace tern::platform
