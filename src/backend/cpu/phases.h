// The progress of the workers through a run of a plan.
#pragma once

#include <vector>

#include "backend/cpu/ops/work_queue.h"
#include "base/wait_counter.h"

namespace tern::cpu {

// Steps between which no worker has to wait form a phase. A phase is over when all units of its steps are computed, by
// any workers. A worker that sleeps, or that the system does not run, is waited for only while it has claimed a range.
// Later it walks through the steps that it missed and finds nothing left to do.
class Phases {
 public:
  explicit Phases(size_t n) : done_(n) {}

  // Call before each run.
  void reset() {
    for (WaitCounter& done : done_) done.set(0);
  }

  // One worker's walk through all phases of a run.
  class Walk {
   public:
    explicit Walk(Phases& phases) : phases_(phases) {}

    // Call after the op that used `queue` has returned.
    void add(const WorkQueue& queue) {
      units_ += static_cast<uint32_t>(queue.units());
      done_ += static_cast<uint32_t>(queue.done());
    }

    // Counts one more unit; `is_done` says whether this worker has done it.
    void add_unit(bool is_done) {
      ++units_;
      done_ += is_done ? 1 : 0;
    }

    // Waits until all units added to this phase are done. Everything written before is visible afterwards. Every worker
    // finishes its phases at the same places; workers that are ahead may already have done more.
    void finish_phase() {
      WaitCounter& done = phases_.done_[phase_];
      if (done_ > 0) done.add(done_);
      done_ = 0;
      done.wait_for_at_least(units_);
    }

    void next_phase() {
      finish_phase();
      ++phase_;
      units_ = 0;
    }

   private:
    Phases& phases_;
    size_t phase_ = 0;
    uint32_t units_ = 0;  // units of the phase that this worker has passed
    uint32_t done_ = 0;   // units done by this worker and not yet published
  };

 private:
  std::vector<WaitCounter> done_;
};

}  // namespace tern::cpu
