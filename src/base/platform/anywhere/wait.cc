// By the standard library: a futex on Linux, and polling where threads cannot be made.
#include "base/platform/wait.h"

namespace tern::platform {

void sleep_while(std::atomic<uint32_t>& value, uint32_t seen) { value.wait(seen, std::memory_order_seq_cst); }
void wake_all(std::atomic<uint32_t>& value) { value.notify_all(); }

}  // namespace tern::platform
