// One thread for each request in progress: most of its time it waits for the model or the client.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace tern::server {

class RequestThreads {
 public:
  // Beyond `most` threads, requests wait.
  explicit RequestThreads(size_t most) : most_(most) {}

  // False: it is not run, because the system has no thread for it or shutdown() was called.
  bool enqueue(std::function<void()> request);
  void shutdown();  // waits for all threads

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
