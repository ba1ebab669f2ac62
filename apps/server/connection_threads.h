// One thread for each open connection. The library's own pool counts a thread as free until it has woken up, so in a
// burst of connections some would wait for others to end.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace tern::server {

class ConnectionThreads final : public httplib::TaskQueue {
 public:
  // Beyond `most` threads, connections wait.
  explicit ConnectionThreads(size_t most) : most_(most) {}

  bool enqueue(std::function<void()> connection) override;
  void shutdown() override;  // waits for all threads

 private:
  using Threads = std::list<std::jthread>;
  void work(Threads::iterator self);
  bool start_thread();

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  size_t n_idle_ = 0;
  bool is_ending_ = false;
  Threads threads_, ended_;
};

}  // namespace tern::server
