#include "server/connections/preparation.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "base/pauses.h"
#include "base/platform/processors.h"
#include "base/start_thread.h"

namespace tern::server {
namespace {

constexpr size_t kSmallRequest = 8192;  // bytes: the JSON of a schema is parsed in 0.4 ms
constexpr size_t kLongRequest = size_t{1} << 20;
// Beside a reply on two cores, requests of 100 kB are read in 13 ms instead of 8, and of 1 MB in a second instead of 80
// ms, which is little beside the time until the model has read them. With 10, a reply beside 16 schemas that
// arrive at once had gaps of 32 ms instead of 25.
constexpr int kNiceOfPreparation = 19;

thread_local std::counting_semaphore<>* turns = nullptr;  // one of which this thread has

}  // namespace

void Preparation::run(size_t n_bytes, const std::function<void()>& work) {
  if (n_bytes <= kSmallRequest || turns) return work();
  std::exception_ptr thrown;
  const auto take_turn = [&] {
    platform::give_way(kNiceOfPreparation);
    const Pauses pauses;
    turns = n_bytes > kLongRequest ? &long_turns_ : &turns_;
    turns->acquire();
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    turns->release();
  };
  Result<std::jthread> thread = start_thread("reading a request", take_turn);
  if (!thread) return work();
  thread->join();
  if (thrown) std::rethrow_exception(thrown);
}

Preparation::Pause::Pause() : paused_(turns) {
  if (paused_) paused_->release();
}

Preparation::Pause::~Pause() {
  if (paused_) paused_->acquire();
}

Preparation& Preparation::shared() {
  static Preparation preparation(std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / 4));
  return preparation;
}

}  // namespace tern::server
