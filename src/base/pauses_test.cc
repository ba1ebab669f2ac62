#include "base/pauses.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

#include "base/thread_pool.h"

namespace tern {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

void work_for(milliseconds time) {
  for (const auto end = steady_clock::now() + time; steady_clock::now() < end;) Pauses::check_point(1000);
}

// Calls `use` while a pool of `n_threads` runs something.
template <class Use>
void beside_pool(int n_threads, const Use& use) {
  ThreadPool pool(n_threads);
  std::latch runs(1);
  std::atomic<bool> is_over = false;
  std::jthread caller([&] {
    pool.run([&](int worker) {
      if (worker == 0) runs.count_down();
      is_over.wait(false);
    });
  });
  runs.wait();
  use();
  is_over = true;
  is_over.notify_all();
}

TEST(Pauses, AreMadeBesideAPoolThatHasAllProcessors) {
  const Pauses pauses;
  beside_pool(ThreadPool::available_cpus(), [] { work_for(milliseconds(30)); });
  EXPECT_GE(pauses.n_pauses(), 1);
  const int n = pauses.n_pauses();
  work_for(milliseconds(30));
  EXPECT_EQ(pauses.n_pauses(), n) << "nothing computes any more";
}

TEST(Pauses, LeaveAProcessorThatNoPoolHas) {
  if (ThreadPool::available_cpus() < 2) GTEST_SKIP() << "needs two processors";
  const Pauses pauses;
  beside_pool(1, [] { work_for(milliseconds(30)); });
  EXPECT_EQ(pauses.n_pauses(), 0);
}

TEST(Pauses, AreTheirThreadsAlone) {
  const Pauses outer;
  {
    const Pauses inner;
    EXPECT_EQ(Pauses::of_thread(), &inner);
    std::jthread([] { EXPECT_EQ(Pauses::of_thread(), nullptr); });
  }
  EXPECT_EQ(Pauses::of_thread(), &outer);
}

}  // namespace
}  // namespace tern
