#include "server/connections/request_threads.h"

#include <chrono>
#include <utility>

#include "base/start_thread.h"

namespace tern::server {
namespace {

constexpr std::chrono::seconds kIdle(3);  // then an idle thread ends

}  // namespace

bool RequestThreads::enqueue(std::function<void()> request) {
  Threads ended;  // joined after the lock is released
  const std::scoped_lock lock(mutex_);
  if (is_ending_) return false;
  ended.swap(ended_);
  waiting_.push_back(std::move(request));
  if (n_idle_ < waiting_.size() && threads_.size() < most_ && !start_thread() && threads_.empty()) {
    waiting_.pop_back();
    return false;
  }
  changed_.notify_one();
  return true;
}

// False if the system cannot create another thread.
bool RequestThreads::start_thread() {
  const auto self = threads_.emplace(threads_.end());
  Result<std::jthread> thread = tern::start_thread("requests", [this, self] { work(self); });
  if (!thread) {
    threads_.erase(self);
    return false;
  }
  *self = *std::move(thread);
  return true;
}

void RequestThreads::work(Threads::iterator self) {
  std::unique_lock lock(mutex_);
  while (true) {
    ++n_idle_;
    changed_.wait_for(lock, kIdle, [&] { return !waiting_.empty() || is_ending_; });
    --n_idle_;
    if (waiting_.empty()) break;
    const std::function<void()> request = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    request();
    lock.lock();
  }
  ended_.splice(ended_.end(), threads_, self);
  changed_.notify_all();
}

void RequestThreads::shutdown() {
  std::unique_lock lock(mutex_);
  is_ending_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return threads_.empty(); });
  Threads ended;
  ended.swap(ended_);
  lock.unlock();
}

}  // namespace tern::server
