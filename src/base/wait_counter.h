// A number that threads change and wait for: they spin for a short while, then sleep.
#pragma once

#include <atomic>
#include <cstdint>

namespace tern {

// On a cache line of its own. Writes before a change are visible to whoever saw the change.
class alignas(64) WaitCounter {
 public:
  uint32_t value() const { return value_.load(std::memory_order_acquire); }

  // Only while nobody waits.
  void set(uint32_t value) { value_.store(value, std::memory_order_release); }

  // Adds modulo 2^32; the waiting look again.
  void add(uint32_t n);

  // Adds 1 and returns true, unless `bit` of the value is not set. Wakes nobody.
  bool add_one_where(uint32_t bit);

  void wait_for(uint32_t wanted);
  void wait_for_at_least(uint32_t wanted);
  uint32_t wait_while(uint32_t seen);  // the value that it has instead

 private:
  template <class Pred>
  uint32_t wait_until(Pred is_met);

  std::atomic<uint32_t> value_ = 0;
  std::atomic<uint32_t> sleepers_ = 0;
};

}  // namespace tern
