// Pauses in long work beside models that compute on all processors. A low priority is not enough: while the work has a
// processor, Linux may let two threads of a model take turns on another one for tens of milliseconds. A processor that
// becomes idle takes a waiting thread at once.
#pragma once

#include <chrono>
#include <cstdint>

namespace tern {

// While one exists, the check points of its thread pause.
class Pauses {
 public:
  Pauses() : outer_(current) { current = this; }
  ~Pauses() { current = outer_; }
  Pauses(const Pauses&) = delete;
  Pauses& operator=(const Pauses&) = delete;

  // In loops of work that may be long. Costs a nanosecond; other threads never pause. `work`: since the last one, in
  // tens of nanoseconds or so.
  static void check_point(uint32_t work = 1) {
    if (current && (current->work_ += work) >= kWorkPerLook) current->look();
  }

  // That of the calling thread, or null.
  static const Pauses* of_thread() { return current; }
  int n_pauses() const { return n_pauses_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr uint32_t kWorkPerLook = 1000;
  void look();

  static constinit inline thread_local Pauses* current = nullptr;
  Pauses* const outer_;
  uint32_t work_ = 0;
  int n_pauses_ = 0;
  Clock::time_point since_ = Clock::now();  // the end of the last pause
};

}  // namespace tern
