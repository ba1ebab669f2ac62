#include "server/connections/poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/result.h"

namespace tern::server {
namespace {

bool set(int poll, int operation, int fd, IoState need) {
  epoll_event event = {.events = need == IoState::kNeedsOutput ? EPOLLOUT : EPOLLIN, .data = {.fd = fd}};
  return ::epoll_ctl(poll, operation, fd, &event) == 0;
}

}  // namespace

Result<std::unique_ptr<Poller>> Poller::open() {
  const int poll = ::epoll_create1(EPOLL_CLOEXEC), event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::unique_ptr<Poller> poller(new Poller(poll, event));
  if (poll >= 0 && event >= 0 && poller->add(event, IoState::kNeedsInput)) return poller;
  return fail(ErrorCode::kIo, "cannot wait for connections: {}", std::strerror(errno));
}

Poller::~Poller() {
  if (event_ >= 0) ::close(event_);
  if (poll_ >= 0) ::close(poll_);
}

bool Poller::add(int fd, IoState need) { return set(poll_, EPOLL_CTL_ADD, fd, need); }
void Poller::change(int fd, IoState need) { set(poll_, EPOLL_CTL_MOD, fd, need); }
void Poller::remove(int fd) { ::epoll_ctl(poll_, EPOLL_CTL_DEL, fd, nullptr); }

std::vector<int> Poller::wait(std::chrono::milliseconds most) {
  std::array<epoll_event, 128> events;
  const int n = ::epoll_wait(poll_, events.data(), events.size(), static_cast<int>(most.count()));
  std::vector<int> ready;
  for (int i = 0; i < n; ++i) {
    const int fd = events.at(static_cast<size_t>(i)).data.fd;
    uint64_t woken = 0;
    if (fd != event_) {
      ready.push_back(fd);
    } else if (::read(event_, &woken, sizeof woken) < 0) {
      continue;  // another look has reset it
    }
  }
  return ready;
}

void Poller::wake() {
  const uint64_t one = 1;
  if (::write(event_, &one, sizeof one) < 0) return;  // it is set already
}

}  // namespace tern::server
