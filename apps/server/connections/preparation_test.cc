#include "server/connections/preparation.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/pauses.h"

namespace tern::server {
namespace {

constexpr size_t kLarge = 100'000;

// Runs `work` `n` times at once.
void run_at_once(Preparation& preparation, int n, const std::function<void()>& work) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([&] { preparation.run(kLarge, work); });
}

TEST(Preparation, ReadsLargeRequestsAFewAtATimeBesideOthers) {
  Preparation preparation(2);
  const int priority = ::getpriority(PRIO_PROCESS, 0);
  std::atomic<int> n_running = 0, most_running = 0, n_done = 0;
  run_at_once(preparation, 8, [&] {
    EXPECT_NE(Pauses::of_thread(), nullptr) << "it should pause beside a model";
#ifdef __linux__
    EXPECT_GT(::getpriority(PRIO_PROCESS, 0), 0) << "it should give way to others";
#endif
    const int n = ++n_running;
    for (int most = most_running; most < n && !most_running.compare_exchange_weak(most, n);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --n_running;
    ++n_done;
  });
  EXPECT_EQ(n_done, 8);
  EXPECT_LE(most_running, 2);
  EXPECT_EQ(::getpriority(PRIO_PROCESS, 0), priority) << "the callers keep their priority";
}

TEST(Preparation, ReadsSmallRequestsAtOnce) {
  Preparation preparation(1);
  const auto caller = std::this_thread::get_id();
  preparation.run(kLarge, [&] {
    EXPECT_NE(std::this_thread::get_id(), caller);
    std::jthread([&] {  // waits for no turn
      const auto other = std::this_thread::get_id();
      preparation.run(100, [&] { EXPECT_EQ(std::this_thread::get_id(), other); });
    });
  });
}

// If one kept its turn, the others would never begin, and the latch would wait for ever.
TEST(Preparation, OneThatWaitsLetsOthersBegin) {
  Preparation preparation(1);
  std::latch all_wait(4);
  std::atomic<int> n_running = 0, most_running = 0;
  run_at_once(preparation, 4, [&] {
    {
      const Preparation::Pause pause;
      all_wait.arrive_and_wait();
    }
    most_running = std::max(most_running.load(), ++n_running);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --n_running;
  });
  EXPECT_EQ(most_running, 1) << "after its wait each needs a turn again";
  const Preparation::Pause without_effect;
}

// If the long one had the others' turn, both would wait for ever.
TEST(Preparation, ALongOneDelaysOnlyLongOnes) {
  Preparation preparation(1);
  std::latch is_begun(1), others_are_read(4);
  const std::jthread longest([&] {
    preparation.run(size_t{8} << 20, [&] {
      is_begun.count_down();
      others_are_read.wait();
    });
  });
  is_begun.wait();
  run_at_once(preparation, 4, [&] { others_are_read.count_down(); });
}

TEST(Preparation, ThrowsWhatTheWorkThrows) {
  Preparation preparation(1);
  const auto fail = [] { throw std::runtime_error("the reason"); };
  for (int i = 0; i < 2; ++i) {  // the second has a turn only if the first has returned its own
    EXPECT_THROW(preparation.run(kLarge, fail), std::runtime_error);
    EXPECT_THROW(preparation.run(1, fail), std::runtime_error);
  }
}

}  // namespace
}  // namespace tern::server
