#include "cli/terminal/interrupt.h"

namespace tern::cli {

StopOnInterrupt::StopOnInterrupt(std::span<const int> signals) : pipe_(InterruptPipe::SecondPress::kExits, signals) {
  if (!pipe_.is_open()) return;  // Ctrl-C then kills the program, the default
  watcher_ = std::thread([this] {
    pipe_.wait();
    if (closing_) return;
    interrupted_ = true;
    source_.request_stop();
  });
}

StopOnInterrupt::~StopOnInterrupt() {
  closing_ = true;
  pipe_.wake();
  if (watcher_.joinable()) watcher_.join();
}

}  // namespace tern::cli
