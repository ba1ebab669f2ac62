#include "base/wait_counter.h"

#include "base/platform/wait.h"

namespace tern {
namespace {

inline void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// About 20–50 µs on current cores: longer than the imbalance of a matvec's last rows, shorter than a scheduler tick.
// WebAssembly has no pause instruction, so a spin is several times shorter there.
#ifdef __EMSCRIPTEN__
constexpr int kSpins = 10'000;
#else
constexpr int kSpins = 1000;
#endif

}  // namespace

void WaitCounter::add(uint32_t n) {
  value_.fetch_add(n, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) platform::wake_all(value_);
}

bool WaitCounter::add_one_where(uint32_t bit) {
  uint32_t value = value_.load(std::memory_order_relaxed);
  while ((value & bit) != 0) {
    if (value_.compare_exchange_weak(value, value + 1, std::memory_order_acq_rel, std::memory_order_relaxed))
      return true;
  }
  return false;
}

template <class Pred>
uint32_t WaitCounter::wait_until(Pred is_met) {
  for (int i = 0; i < kSpins; ++i) {
    const uint32_t value = value_.load(std::memory_order_acquire);
    if (is_met(value)) return value;
    pause_cpu();
  }
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  uint32_t value = value_.load(std::memory_order_seq_cst);
  for (; !is_met(value); value = value_.load(std::memory_order_seq_cst)) platform::sleep_while(value_, value);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
  return value;
}

void WaitCounter::wait_for(uint32_t wanted) {
  wait_until([=](uint32_t value) { return value == wanted; });
}

void WaitCounter::wait_for_at_least(uint32_t wanted) {
  wait_until([=](uint32_t value) { return value >= wanted; });
}

uint32_t WaitCounter::wait_while(uint32_t seen) {
  return wait_until([=](uint32_t value) { return value != seen; });
}

}  // namespace tern
