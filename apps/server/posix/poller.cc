// For systems without epoll: a look goes through all connections, which a thousand idle ones do not make slow.
#include "server/connections/poller.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/result.h"

namespace tern::server {
namespace {

short events_of(IoState need) { return need == IoState::kNeedsOutput ? POLLOUT : POLLIN; }

bool open_pipe(int (&ends)[2]) {
  if (::pipe(ends) != 0) return false;
  return std::ranges::all_of(
      ends, [](int end) { return ::fcntl(end, F_SETFD, FD_CLOEXEC) == 0 && ::fcntl(end, F_SETFL, O_NONBLOCK) == 0; });
}

}  // namespace

// The first of the descriptors is the end of the pipe that wakes.
struct Poller::System {
  int ends[2] = {-1, -1};
  const bool is_made = open_pipe(ends);
  std::vector<pollfd> waiting = {{.fd = ends[0], .events = POLLIN, .revents = 0}};

  auto find(int fd) { return std::ranges::find(waiting, fd, &pollfd::fd); }
  System() = default;
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  ~System() {
    for (const int end : ends) {
      if (end >= 0) ::close(end);
    }
  }
};

Result<std::unique_ptr<Poller>> Poller::open() {
  auto system = std::make_unique<System>();
  if (!system->is_made) return fail(ErrorCode::kIo, "cannot wait for connections: {}", std::strerror(errno));
  return std::unique_ptr<Poller>(new Poller(std::move(system)));
}

Poller::Poller(std::unique_ptr<System> system) : system_(std::move(system)) {}
Poller::~Poller() = default;

bool Poller::add(int fd, IoState need) {
  system_->waiting.push_back({.fd = fd, .events = events_of(need), .revents = 0});
  return true;
}

void Poller::change(int fd, IoState need) {
  if (const auto found = system_->find(fd); found != system_->waiting.end()) found->events = events_of(need);
}

void Poller::remove(int fd) {
  const auto found = system_->find(fd);
  if (found == system_->waiting.end()) return;
  *found = system_->waiting.back();
  system_->waiting.pop_back();
}

std::vector<int> Poller::wait(std::chrono::milliseconds most) {
  auto& waiting = system_->waiting;
  const int n = ::poll(waiting.data(), static_cast<nfds_t>(waiting.size()), static_cast<int>(most.count()));
  std::vector<int> ready;
  if (n <= 0) return ready;
  if (waiting.front().revents != 0) {
    char bytes[64];
    while (::read(waiting.front().fd, bytes, sizeof bytes) > 0) {
    }
  }
  for (const pollfd& one : std::span(waiting).subspan(1)) {
    if (one.revents != 0) ready.push_back(one.fd);
  }
  return ready;
}

void Poller::wake() {
  const char byte = 'w';
  if (::write(system_->ends[1], &byte, 1) < 0) return;  // the pipe is full: it wakes already
}

}  // namespace tern::server
