#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <vector>

namespace tern {
namespace {

// Each phase reads what all workers wrote in the one before; a barrier that lets a worker through early breaks the
// sums.
TEST(ThreadPool, BarrierSeparatesPhases) {
  for (const int n : {1, 2, 3, 8, 33}) {
    ThreadPool pool(n);
    std::vector<long> even(n, 1), odd(n, 0);
    constexpr int kPhases = 200;
    for (int round = 0; round < 3; ++round) {
      even.assign(n, 1);
      pool.run([&](int worker) {
        for (int phase = 0; phase < kPhases; ++phase) {
          const auto& from = phase % 2 == 0 ? even : odd;
          auto& to = phase % 2 == 0 ? odd : even;
          long sum = 0;
          for (const long value : from) sum += value;
          to[worker] = (sum + worker) % 1'000'003;
          pool.barrier();
        }
      });
      std::vector<long> expected(n, 1);
      for (int phase = 0; phase < kPhases; ++phase) {
        long sum = 0;
        for (const long value : expected) sum += value;
        for (int worker = 0; worker < n; ++worker) expected[worker] = (sum + worker) % 1'000'003;
      }
      EXPECT_EQ(even, expected) << n << " threads";
    }
  }
}

TEST(ThreadPool, EveryWorkerRunsOnce) {
  ThreadPool pool(4);
  for (int round = 0; round < 1000; ++round) {
    std::vector<int> calls(4, 0);
    pool.run([&](int worker) { ++calls[worker]; });
    ASSERT_EQ(calls, std::vector<int>(4, 1));
  }
}

TEST(ThreadPool, StartsAndStopsWithoutRunning) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(3);
  EXPECT_GE(ThreadPool::available_cpus(), 1);
}

}  // namespace
}  // namespace tern
