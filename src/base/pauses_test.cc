#include "base/pauses.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

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
