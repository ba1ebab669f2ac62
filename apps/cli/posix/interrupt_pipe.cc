#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/files/unfinished_files.h"
#include "cli/terminal/interrupt.h"

namespace tern::cli {
namespace {

// State that the signal handler uses: lock-free atomics only.
std::atomic<int> handler_fd = -1;
std::atomic<int> presses = 0;
std::atomic<bool> second_press_exits = false;

void on_interrupt(int) {
  const int saved_errno = errno;
  if (presses.fetch_add(1) > 0 && second_press_exits) {
    remove_unfinished_files();
    ::_exit(130);
  }
  const char byte = 'c';
  // A full pipe is fine: the reader already has something to read.
  [[maybe_unused]] const ssize_t written = ::write(handler_fd, &byte, 1);
  errno = saved_errno;
}

}  // namespace

struct InterruptPipe::Handlers {
  std::span<const int> signals;
  struct sigaction actions_before[2] = {};
  int fd_before = -1;
  bool exited_before = false;
  int read_end = -1;
  int write_end = -1;
};

InterruptPipe::InterruptPipe(SecondPress second_press, std::span<const int> signals)
    : handlers_(std::make_unique<Handlers>()) {
  handlers_->signals = signals;
  int ends[2];
  if (::pipe(ends) != 0) return;
  for (const int end : ends) {
    ::fcntl(end, F_SETFL, O_NONBLOCK);
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
  }
  handlers_->read_end = ends[0];
  handlers_->write_end = ends[1];
  handlers_->fd_before = handler_fd.exchange(handlers_->write_end);
  presses = 0;
  handlers_->exited_before = second_press_exits.exchange(second_press == SecondPress::kExits);
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < handlers_->signals.size(); ++i) {
    struct sigaction& before = handlers_->actions_before[i];
    ::sigaction(handlers_->signals[i], &action, &before);
    // If Ctrl-C was ignored when the program started (in the background), it stays ignored.
    if (before.sa_handler == SIG_IGN) ::sigaction(handlers_->signals[i], &before, nullptr);
  }
}

InterruptPipe::~InterruptPipe() {
  if (handlers_->read_end < 0) return;
  for (size_t i = 0; i < handlers_->signals.size(); ++i)
    ::sigaction(handlers_->signals[i], &handlers_->actions_before[i], nullptr);
  handler_fd = handlers_->fd_before;
  second_press_exits = handlers_->exited_before;
  presses = 0;
  ::close(handlers_->read_end);
  ::close(handlers_->write_end);
}

int InterruptPipe::fd() const { return handlers_->read_end; }
bool InterruptPipe::is_open() const { return fd() >= 0; }
bool InterruptPipe::is_pressed() const { return presses > 0; }

void InterruptPipe::wait() const {
  pollfd ready = {.fd = fd(), .events = POLLIN, .revents = 0};
  while (::poll(&ready, 1, -1) < 0 && errno == EINTR) {
  }
}

void InterruptPipe::drain() {
  char bytes[64];
  while (handlers_->read_end >= 0 && ::read(handlers_->read_end, bytes, sizeof bytes) > 0) {
  }
  presses = 0;
}

void InterruptPipe::wake() {
  const char byte = 'w';
  if (handlers_->write_end >= 0) [[maybe_unused]]
    const ssize_t written = ::write(handlers_->write_end, &byte, 1);
}

}  // namespace tern::cli
