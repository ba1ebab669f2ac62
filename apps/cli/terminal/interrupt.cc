#include "cli/terminal/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace tern::cli {
namespace {

// State that the signal handler uses: lock-free atomics only.
std::atomic<int> handler_fd = -1;
std::atomic<int> presses = 0;
std::atomic<bool> second_press_exits = false;

void on_interrupt(int) {
  const int saved_errno = errno;
  if (presses.fetch_add(1) > 0 && second_press_exits) ::_exit(130);
  const char byte = 'c';
  // A full pipe is fine: the reader already has something to read.
  [[maybe_unused]] const ssize_t written = ::write(handler_fd, &byte, 1);
  errno = saved_errno;
}

}  // namespace

InterruptPipe::InterruptPipe(SecondPress second_press, std::span<const int> signals) : signals_(signals) {
  int ends[2];
  if (::pipe(ends) != 0) return;
  for (const int end : ends) {
    ::fcntl(end, F_SETFL, O_NONBLOCK);
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
  }
  read_end_ = ends[0];
  write_end_ = ends[1];
  fd_before_ = handler_fd.exchange(write_end_);
  presses = 0;
  exited_before_ = second_press_exits.exchange(second_press == SecondPress::kExits);
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < signals_.size(); ++i) {
    struct sigaction& before = actions_before_[i];
    ::sigaction(signals_[i], &action, &before);
    // If Ctrl-C was ignored when the program started (in the background), it stays ignored.
    if (before.sa_handler == SIG_IGN) ::sigaction(signals_[i], &before, nullptr);
  }
}

InterruptPipe::~InterruptPipe() {
  if (read_end_ < 0) return;
  for (size_t i = 0; i < signals_.size(); ++i) ::sigaction(signals_[i], &actions_before_[i], nullptr);
  handler_fd = fd_before_;
  second_press_exits = exited_before_;
  presses = 0;
  ::close(read_end_);
  ::close(write_end_);
}

void InterruptPipe::drain() {
  char bytes[64];
  while (read_end_ >= 0 && ::read(read_end_, bytes, sizeof bytes) > 0) {
  }
  presses = 0;
}

void InterruptPipe::wake() {
  const char byte = 'w';
  if (write_end_ >= 0) [[maybe_unused]]
    const ssize_t written = ::write(write_end_, &byte, 1);
}

StopOnInterrupt::StopOnInterrupt(std::span<const int> signals) : pipe_(InterruptPipe::SecondPress::kExits, signals) {
  if (pipe_.fd() < 0) return;  // Ctrl-C then kills the program, the default
  watcher_ = std::thread([this] {
    pollfd ready = {.fd = pipe_.fd(), .events = POLLIN, .revents = 0};
    while (::poll(&ready, 1, -1) < 0 && errno == EINTR) {
    }
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
