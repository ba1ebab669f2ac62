// A number that threads change and wait for: they spin briefly, then sleep.
#pragma once

#include <atomic>
#include <cstdint>

namespace tern {

// Has its own cache line. Writes before a change are visible to threads that have seen the change.
class alignas(64) WaitCounter {
 public:
  uint32_t value() const { return value_.load(std::memory_order_acquire); }

  // Only while no thread waits.
  void set(uint32_t value) { value_.store(value, std::memory_order_release); }

  // Adds modulo 2^32 and wakes the waiting threads.
  void add(uint32_t n);

  // Adds 1 and returns true if `bit` of the value is set; else returns false. Wakes no thread.
  bool add_one_where(uint32_t bit);

  void wait_for(uint32_t wanted);
  void wait_for_at_least(uint32_t wanted);
  uint32_t wait_while(uint32_t seen);  // returns the new value

 private:
  template <class Pred>
  uint32_t wait_until(Pred is_met);

  std::atomic<uint32_t> value_ = 0;
  std::atomic<uint32_t> sleepers_ = 0;
};

}  // namespace tern
