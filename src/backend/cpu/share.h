// How one op's work is divided among threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <span>

namespace tern::cpu {

// One worker's part in one op. Workers claim ranges of units from a shared counter until none are left, so that a slow
// core takes fewer. What a unit computes never depends on who claims it: results do not change with the thread count.
class Share {
 public:
  Share(std::atomic<int>& next, int n_workers, std::span<float> scratch)
      : next_(next), n_workers_(n_workers), scratch_(scratch) {}

  // Calls body(begin, end) with ranges that cover [0, n_units) once over all workers. Ranges start at multiples of
  // `grain` and are a multiple of it long, except for the last.
  template <class Body>
  void for_ranges(int n_units, int grain, Body&& body) {
    const int grains = (n_units + grain - 1) / grain;
    const int step = n_workers_ == 1 ? n_units : std::max(1, grains / (n_workers_ * kClaimsPerWorker)) * grain;
    for (;;) {
      const int begin = next_.fetch_add(step, std::memory_order_relaxed);
      if (begin >= n_units) return;
      body(begin, std::min(begin + step, n_units));
    }
  }

  // Private to the worker; at least as long as the widest row and the context.
  std::span<float> scratch() const { return scratch_; }

 private:
  static constexpr int kClaimsPerWorker = 8;

  std::atomic<int>& next_;
  int n_workers_;
  std::span<float> scratch_;
};

}  // namespace tern::cpu
