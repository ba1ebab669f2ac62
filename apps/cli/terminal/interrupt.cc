#include "cli/terminal/interrupt.h"

#include <utility>

#include "base/start_thread.h"

namespace tern::cli {

StopOnInterrupt::StopOnInterrupt(std::span<const int> signals) {
  pipe_.emplace(InterruptPipe::SecondPress::kExits, signals);
  const auto watch = [this] {
    pipe_->wait();
    if (closing_) return;
    interrupted_ = true;
    source_.request_stop();
  };
  Result<std::jthread> watcher = fail(ErrorCode::kIo, "there is no pipe");
  if (pipe_->is_open()) watcher = start_thread("Ctrl-C", watch);
  if (watcher) {
    watcher_ = *std::move(watcher);
  } else {
    pipe_.reset();
  }
}

StopOnInterrupt::~StopOnInterrupt() {
  closing_ = true;
  if (pipe_) pipe_->wake();
  if (watcher_.joinable()) watcher_.join();
}

}  // namespace tern::cli
