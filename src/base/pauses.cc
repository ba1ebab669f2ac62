#include "base/pauses.h"

#include <thread>

#include "base/thread_pool.h"

namespace tern {
namespace {

// A stream loses the share of one processor that the work has: each step of a model waits for its slowest thread.
constexpr std::chrono::milliseconds kWork(1), kPause(12);

}  // namespace

void Pauses::look() {
  work_ = 0;
  if (Clock::now() - since_ < kWork || ThreadPool::n_computing() < ThreadPool::available_cpus()) return;
  std::this_thread::sleep_for(kPause);
  since_ = Clock::now();
  ++n_pauses_;
}

}  // namespace tern
