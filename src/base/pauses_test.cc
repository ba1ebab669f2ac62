#include "base/pauses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/busy_pool_test_support.h"

namespace tern {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

void work_for(milliseconds time) {
  for (const auto end = steady_clock::now() + time; steady_clock::now() < end;) Pauses::check_point(1000);
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

TEST(Pauses, AWorkHasItsTurnsBetweenPasses) {
  constexpr int kPasses = 60;
  constexpr milliseconds kPass(6);
  std::atomic<bool> is_computing = false, is_over = false;
  int n_beside = 0, n_between = 0, n_pauses = 0;
  std::jthread work([&] {
    const Pauses pauses;
    while (!is_over) {
      (is_computing ? n_beside : n_between) += 1;
      Pauses::check_point(1000);
    }
    n_pauses = pauses.n_pauses();
  });
  ThreadPool pool(ThreadPool::available_cpus());
  std::vector<double> gaps;
  for (int i = 0; i < kPasses; ++i) {
    const auto start = steady_clock::now();
    pool.run([&](int worker) {
      if (worker == 0) is_computing = true;
      std::this_thread::sleep_for(kPass);
      if (worker == 0) is_computing = false;
    });
    gaps.push_back(std::chrono::duration<double, std::milli>(steady_clock::now() - start).count());
  }
  is_over = true;
  work.join();
  EXPECT_GE(n_pauses, 5);
  EXPECT_GT(n_between, 20 * n_beside) << "it goes on beside a pass only up to its next check point";
  std::ranges::sort(gaps);
  EXPECT_LT(gaps[kPasses / 2], 3.0 * static_cast<double>(kPass.count())) << "turns of half a pass, and what else runs";
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
