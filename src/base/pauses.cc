#include "base/pauses.h"

#include <thread>

#include "base/thread_pool.h"

namespace tern {
namespace {

// On two cores a stream loses at most half of the work's share. A token of 16 ms is delayed by about 2 ms.
constexpr std::chrono::milliseconds kWork(1), kPause(8);

}  // namespace

void Pauses::look() {
  work_ = 0;
  if (Clock::now() - since_ < kWork || ThreadPool::n_computing() < ThreadPool::available_cpus()) return;
  std::this_thread::sleep_for(kPause);
  since_ = Clock::now();
  ++n_pauses_;
}

}  // namespace tern
