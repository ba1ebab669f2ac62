#include "server/connections/request_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>

namespace tern::server {
namespace {

TEST(RequestThreads, NoneWaitsForOneThatIsHeld) {
  RequestThreads threads(100);
  for (const int n : {50, 60}) {                           // in the second round, the threads of the first are idle
    const auto all = std::make_shared<std::latch>(n + 1);  // shared, as any task may be the last to leave it
    for (int i = 0; i < n; ++i) {
      // Each task ends only when all have begun.
      ASSERT_TRUE(threads.enqueue([all] { all->arrive_and_wait(); }));
    }
    all->arrive_and_wait();
  }
  threads.shutdown();
  EXPECT_FALSE(threads.enqueue([] {}));
}

TEST(RequestThreads, MoreThanTheMostWait) {
  RequestThreads threads(2);
  std::atomic<int> n_running = 0, most_running = 0, n_done = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(threads.enqueue([&] {
      const int n = ++n_running;
      if (n > most_running) most_running = n;
      ++n_done;
      --n_running;
    }));
  }
  threads.shutdown();
  EXPECT_EQ(n_done, 20);
  EXPECT_LE(most_running, 2);
}

}  // namespace
}  // namespace tern::server
