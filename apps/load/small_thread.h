// A thread with a small stack: the load generator has hundreds of threads, which mostly wait.
#pragma once

#include <pthread.h>

#include <functional>
#include <memory>
#include <utility>

namespace tern::load {

class SmallThread {
 public:
  // 512 KiB: the HTTP library reads into 16 KiB on the stack, and the system needs room for name lookups and
  // certificates.
  static constexpr size_t kStackBytes = size_t{512} << 10;

  SmallThread() = default;
  SmallThread(SmallThread&& other) noexcept : id_(other.id_), running_(std::exchange(other.running_, false)) {}
  SmallThread& operator=(SmallThread&&) = delete;
  ~SmallThread() {
    if (running_) ::pthread_join(id_, nullptr);
  }

  // Returns false if the system cannot create another thread.
  [[nodiscard]] bool start(std::function<void()> work) {
    auto owned = std::make_unique<std::function<void()>>(std::move(work));
    pthread_attr_t attributes;
    if (::pthread_attr_init(&attributes) != 0) return false;
    ::pthread_attr_setstacksize(&attributes, kStackBytes);
    const auto body = [](void* argument) -> void* {
      const std::unique_ptr<std::function<void()>> function(static_cast<std::function<void()>*>(argument));
      (*function)();
      return nullptr;
    };
    running_ = ::pthread_create(&id_, &attributes, body, owned.get()) == 0;
    if (running_) [[maybe_unused]]
      auto* const taken = owned.release();
    ::pthread_attr_destroy(&attributes);
    return running_;
  }

 private:
  pthread_t id_ = {};
  bool running_ = false;
};

}  // namespace tern::load
