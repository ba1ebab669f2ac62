#include "base/thread_pool.h"

#include <gtest/gtest.h>

#ifndef __EMSCRIPTEN__
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

namespace tern {
namespace {

using namespace std::chrono_literals;

// Each phase reads what all workers wrote in the previous one. A barrier that lets a worker through early breaks the
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

TEST(WaitCounter, WakesWhoSleeps) {
  ThreadPool pool(2);
  if (pool.size() < 2) GTEST_SKIP() << "no threads here";
  WaitCounter counter;
  uint32_t seen = 0;
  pool.run([&](int worker) {
    if (worker == 1) {
      seen = counter.wait_while(0);
    } else {
      std::this_thread::sleep_for(20ms);  // much longer than the spinning
      counter.add(7);
    }
  });
  EXPECT_EQ(seen, 7u);
}

TEST(WaitCounter, AddsOneOnlyWhereTheBitIsSet) {
  WaitCounter counter;
  EXPECT_FALSE(counter.add_one_where(8));
  counter.set(8);
  EXPECT_TRUE(counter.add_one_where(8));
  EXPECT_EQ(counter.value(), 9u);
}

TEST(ThreadPool, EveryWorkerRunsOnce) {
  ThreadPool pool(4);
  for (int round = 0; round < 1000; ++round) {
    std::vector<int> calls(4, 0);
    pool.run([&](int worker) { ++calls[worker]; });
    ASSERT_EQ(calls, std::vector<int>(4, 1));
  }
}

TEST(ThreadPool, KeptWorkersRunAndTheOthersHaveEnded) {
  ThreadPool pool(8);
  for (const int n : {8, 5, 6, 2, 1}) {
    const int size = std::min(n, pool.size());
    pool.keep(n);
    EXPECT_EQ(pool.size(), size);
    for (int round = 0; round < 100; ++round) {
      std::vector<std::atomic<int>> runs(8);
      pool.run([&](int worker) {
        pool.barrier();
        ++runs[static_cast<size_t>(worker)];
      });
      for (int worker = 0; worker < 8; ++worker) EXPECT_EQ(runs[static_cast<size_t>(worker)], worker < size ? 1 : 0);
    }
  }
}

TEST(ThreadPool, AThousandThreads) {
  ThreadPool pool(1000);
  for (int round = 0; round < 3; ++round) {
    std::vector<int> calls(pool.size(), 0);
    pool.run([&](int worker) { ++calls[worker]; });
    EXPECT_EQ(std::ranges::count(calls, 1), pool.size());
  }
}

TEST(ThreadPool, StartsAndStopsWithoutRunning) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(3);
  EXPECT_GE(ThreadPool::available_cpus(), 1);
}

// Alternates both kinds of runs, so that workers arrive late in either. All their writes are visible after the run.
TEST(ThreadPool, ComersRunAtMostOnceAndAreGoneAfterwards) {
  ThreadPool pool(5);
  const int n = pool.size();
  for (int round = 0; round < 1000; ++round) {
    const bool waits_for_one = n > 1 && round % 10 == 0;
    std::vector<int> calls(n, 0), claimed(64, 0);
    std::atomic<int> next = 0, n_comers = 0;
    pool.run_elastic([&](int worker) {
      ++calls[worker];
      if (worker > 0) ++n_comers;
      while (waits_for_one && n_comers == 0) std::this_thread::yield();
      for (int i = next++; i < 64; i = next++) ++claimed[i];
      if (worker > 0 && waits_for_one) std::this_thread::sleep_for(1ms);  // the caller is done much earlier
      ++calls[worker];
    });
    ASSERT_EQ(claimed, std::vector<int>(64, 1));
    ASSERT_EQ(calls[0], 2);
    for (const int twice : calls) ASSERT_TRUE(twice == 0 || twice == 2) << twice;
    ASSERT_EQ(std::ranges::count(calls, 2), 1 + n_comers);
    if (round % 3 != 0) continue;
    std::vector<int> all(n, 0);
    pool.run([&](int worker) { ++all[worker]; });
    ASSERT_EQ(all, std::vector<int>(n, 1));
  }
}

TEST(ThreadPool, ComersAreLetInWhileTheCallerIsAtIt) {
  ThreadPool pool(2);
  if (pool.size() < 2) GTEST_SKIP() << "no threads here";
  std::atomic<bool> is_inside = false;
  pool.run_elastic([&](int worker) {
    if (worker == 1) {
      is_inside = true;
      return;
    }
    while (!is_inside) std::this_thread::yield();
  });
  EXPECT_TRUE(is_inside);
}

#ifndef __EMSCRIPTEN__

std::vector<int> cpus_of_this_thread() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  EXPECT_EQ(sched_getaffinity(0, sizeof(mask), &mask), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
  }
  return cpus;
}

TEST(ThreadPool, SharesOutEachPieceOnce) {
  for (const int n_threads : {1, 4}) {
    ThreadPool pool({.n_threads = n_threads});
    for (const size_t n : {0u, 1u, 3u, 1000u}) {
      std::vector<std::atomic<int>> calls(n);
      pool.parallel_for(n, 3, [&](size_t first, size_t count) {
        for (size_t i = first; i < first + count; ++i) ++calls[i];
      });
      for (size_t i = 0; i < n; ++i) ASSERT_EQ(calls[i], 1) << i << " of " << n << ", " << n_threads << " threads";
    }
  }
}

TEST(ThreadPool, PinsWorkersAndGivesTheCallerItsCpusBack) {
  const std::vector<int> before = cpus_of_this_thread();
  const int n = static_cast<int>(before.size()) + 1;  // one more than the number of CPUs
  ThreadPool pool({.n_threads = n, .pin = true});
  EXPECT_EQ(cpus_of_this_thread(), before);
  std::vector<std::vector<int>> cpus(n);
  pool.run([&](int worker) { cpus[worker] = cpus_of_this_thread(); });
  for (int worker = 0; worker < n; ++worker) {
    EXPECT_EQ(cpus[worker], std::vector<int>{before[static_cast<size_t>(worker) % before.size()]}) << worker;
  }
  EXPECT_EQ(cpus_of_this_thread(), before);
  pool.run_elastic([&](int worker) { cpus[worker] = cpus_of_this_thread(); });
  EXPECT_EQ(cpus[0], std::vector<int>{before[0]});
  EXPECT_EQ(cpus_of_this_thread(), before);
}

TEST(ThreadPool, WithoutPinningNobodyIsBound) {
  const std::vector<int> before = cpus_of_this_thread();
  ThreadPool pool(2);
  std::vector<std::vector<int>> cpus(2);
  pool.run([&](int worker) { cpus[worker] = cpus_of_this_thread(); });
  EXPECT_EQ(cpus, (std::vector<std::vector<int>>{before, before}));
}

#endif

}  // namespace
}  // namespace tern
