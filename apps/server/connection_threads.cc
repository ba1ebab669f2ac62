#include "server/connection_threads.h"

#include <httplib.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <iterator>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace tern::server {
namespace {

constexpr std::chrono::seconds kLinger = std::chrono::seconds(10);  // without a connection; then a thread ends

class ConnectionThreads final : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(size_t most) : most_(most) {}

  bool enqueue(std::function<void()> connection) override {
    const std::scoped_lock lock(mutex_);
    if (is_ending_) return false;
    // Each that waits is for one that is idle, whether that has noticed or not.
    const bool needs_thread = waiting_.size() >= n_idle_ && threads_.size() < most_;
    if (needs_thread && !start() && threads_.empty()) return false;
    waiting_.push_back(std::move(connection));
    wake_.notify_one();
    join_all(ended_);  // they have nothing more to do than to end
    return true;
  }

  void shutdown() override {
    std::unique_lock lock(mutex_);
    is_ending_ = true;
    wake_.notify_all();
    all_ended_.wait(lock, [this] { return threads_.empty(); });
    join_all(ended_);
  }

 private:
  using Threads = std::list<std::thread>;

  static void join_all(Threads& threads) {
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }

  // False where the system gives no more threads.
  bool start() {
    const auto self = threads_.emplace(threads_.end());
    try {
      *self = std::thread([this, self] { work(self); });
    } catch (const std::system_error&) {
      threads_.erase(self);
      return false;
    }
    return true;
  }

  void work(Threads::iterator self) {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++n_idle_;
      wake_.wait_for(lock, kLinger, [this] { return is_ending_ || !waiting_.empty(); });
      --n_idle_;
      if (waiting_.empty()) break;
      std::function<void()> connection = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      connection();
      connection = nullptr;
      lock.lock();
    }
    ended_.splice(ended_.end(), threads_, self);
    if (threads_.empty()) all_ended_.notify_all();
  }

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable wake_, all_ended_;
  std::deque<std::function<void()>> waiting_;
  Threads threads_, ended_;  // those that end move over
  size_t n_idle_ = 0;
  bool is_ending_ = false;
};

}  // namespace

httplib::TaskQueue* new_connection_threads(size_t most) { return new ConnectionThreads(most); }

}  // namespace tern::server
