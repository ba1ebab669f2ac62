// How one op's work is divided among threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <span>

namespace tern::cpu {

// One worker's part in one op. Workers claim ranges of units from a shared counter until none are left, so that a slow
// core takes fewer. What a unit computes never depends on who claims it: results do not change with the thread count.
class WorkQueue {
 public:
  WorkQueue(std::atomic<int>& next, int n_workers, std::span<float> scratch)
      : next_(next), n_workers_(n_workers), scratch_(scratch) {}

  // Calls body(begin, end) with ranges that cover [0, n_units) once over all workers. Ranges start at multiples of
  // `grain` and are a multiple of it long, except for the last. At most once per op, for all of its work.
  //
  // An op touches memory of others only inside body: a worker that comes late, when all ranges are done, may find that
  // the steps after this one have begun to overwrite its inputs.
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

  // Private to the worker; at least as long as the widest row and the context.
  std::span<float> scratch() const { return scratch_; }

  int n_workers() const { return n_workers_; }
  int units() const { return units_; }  // of the op
  int done() const { return done_; }    // of them, by this worker

 private:
  // A part of what is left: ranges long enough for memory to be read in a stream, and short ones at the end, where
  // everybody waits for the last.
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
