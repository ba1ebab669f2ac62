// Turns of long work beside models that compute on all processors. A low priority is not enough: while the work has a
// processor, Linux may let two threads of a model take turns on another one for tens of milliseconds. So it has turns
// between two passes of a model, when no thread of the model wants a processor.
#pragma once

#include <chrono>
#include <cstdint>

namespace tern {

// While one exists, the check points of its thread pause until the work has its turn.
class Pauses {
 public:
  Pauses() : outer_(current) { current = this; }
  ~Pauses();
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
  static constexpr uint32_t kWorkPerLook = 1000;
  void look();

  static constinit inline thread_local Pauses* current = nullptr;
  Pauses* const outer_;
  uint32_t work_ = 0;
  int n_pauses_ = 0;
  bool has_turn_ = false;
  std::chrono::steady_clock::time_point turn_ends_;
};

// Exists while a pool computes with `n_threads` threads, say for a pass of a model. The constructor first gives work
// that pauses its turn: at most half as long as the last pass, and a thirteenth of the time.
class Computing {
 public:
  explicit Computing(int n_threads);
  ~Computing();
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

 private:
  const int n_;
};

}  // namespace tern
