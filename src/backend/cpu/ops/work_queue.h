// Divides the work of one op among threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <span>

namespace tern::cpu {

// One worker's view of one op. Workers claim ranges of units from a shared counter until none are left, so a slow core
// takes fewer. The result of a unit does not depend on the worker that computes it, so results do not change with the
// thread count.
class WorkQueue {
 public:
  WorkQueue(std::atomic<int>& next, int n_workers, std::span<float> scratch)
      : next_(next), n_workers_(n_workers), scratch_(scratch) {}

  // Calls body(begin, end) with ranges that together cover [0, n_units) once over all workers. Ranges start at
  // multiples of `grain`, and their lengths are multiples of it, except for the last. Call it at most once per op, for
  // all of its work.
  //
  // An op may touch shared memory only inside body. A worker that comes late, when all ranges are done, may find that
  // later steps have begun to overwrite the op's inputs.
  template <class Body>
  void for_ranges(int n_units, int grain, Body&& body) {
    units_ = n_units;
    for (int begin = next_.load(std::memory_order_relaxed); begin < n_units;) {
      const int end = begin + std::min(n_units - begin, claim(n_units - begin, grain));
      if (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed)) continue;
      body(begin, end);
      done_ += end - begin;
      begin = next_.load(std::memory_order_relaxed);
    }
  }

  // Private to the worker; long enough for every op of the plan.
  std::span<float> scratch() const { return scratch_; }

  int n_workers() const { return n_workers_; }
  int units() const { return units_; }  // units of the op
  int done() const { return done_; }    // units done by this worker

 private:
  // Claims a fraction of what is left: long ranges first, so that memory is read in a stream, and short ones at the
  // end, so that all workers finish at about the same time.
  int claim(int left, int grain) const {
    if (n_workers_ == 1) return left;
    return std::max(1, left / (grain * n_workers_ * 2)) * grain;
  }

  std::atomic<int>& next_;
  int n_workers_;
  std::span<float> scratch_;
  int units_ = 0;
  int done_ = 0;
};

}  // namespace tern::cpu
