// How far the workers have come in a run of a plan.
#pragma once

#include <vector>

#include "backend/cpu/work_queue.h"
#include "base/wait_counter.h"

namespace tern::cpu {

// Steps of a plan between which nobody has to wait form a phase. It is over when all units of its steps are computed,
// by whichever workers were there: one that sleeps, or that the system does not run, is waited for only while it has
// claimed a range. It goes through the steps that it has missed later, and finds nothing to do in them.
class Phases {
 public:
  explicit Phases(size_t n) : done_(n) {}

  // Before each run.
  void reset() {
    for (WaitCounter& done : done_) done.set(0);
  }

  // One worker's way through all phases of a run.
  class Walk {
   public:
    explicit Walk(Phases& phases) : phases_(phases) {}

    // The op that `share` was for has returned.
    void add(const WorkQueue& queue) {
      units_ += static_cast<uint32_t>(queue.units());
      done_ += static_cast<uint32_t>(queue.done());
    }

    // One more unit, done by this worker or not.
    void add_unit(bool is_done) {
      ++units_;
      done_ += is_done ? 1 : 0;
    }

    // Waits until all that was added to this phase is done. What was written before is visible after it. Every worker
    // finishes its phase at the same places; those ahead may have done more by the time this one looks.
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
    uint32_t units_ = 0;  // of the phase, as far as this worker has gone through it
    uint32_t done_ = 0;   // by this worker, and not told to the others yet
  };

 private:
  std::vector<WaitCounter> done_;
};

}  // namespace tern::cpu
