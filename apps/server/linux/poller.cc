#include "server/connections/poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/result.h"

namespace tern::server {
namespace {

bool set(int poll, int operation, int fd, IoState need) {
  epoll_event event = {.events = need == IoState::kNeedsOutput ? EPOLLOUT : EPOLLIN, .data = {.fd = fd}};
  return ::epoll_ctl(poll, operation, fd, &event) == 0;
}

}  // namespace

struct Poller::System {
  const int poll = ::epoll_create1(EPOLL_CLOEXEC), event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

  System() = default;
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  ~System() {
    if (event >= 0) ::close(event);
    if (poll >= 0) ::close(poll);
  }
};

Result<std::unique_ptr<Poller>> Poller::open() {
  auto system = std::make_unique<System>();
  const bool is_made = system->poll >= 0 && system->event >= 0;
  const int event = system->event;
  std::unique_ptr<Poller> poller(new Poller(std::move(system)));
  if (is_made && poller->add(event, IoState::kNeedsInput)) return poller;
  return fail(ErrorCode::kIo, "cannot wait for connections: {}", std::strerror(errno));
}

Poller::Poller(std::unique_ptr<System> system) : system_(std::move(system)) {}
Poller::~Poller() = default;

bool Poller::add(int fd, IoState need) { return set(system_->poll, EPOLL_CTL_ADD, fd, need); }
void Poller::change(int fd, IoState need) { set(system_->poll, EPOLL_CTL_MOD, fd, need); }
void Poller::remove(int fd) { ::epoll_ctl(system_->poll, EPOLL_CTL_DEL, fd, nullptr); }

std::vector<int> Poller::wait(std::chrono::milliseconds most) {
  std::array<epoll_event, 128> events;
  const int n = ::epoll_wait(system_->poll, events.data(), events.size(), static_cast<int>(most.count()));
  std::vector<int> ready;
  for (int i = 0; i < n; ++i) {
    const int fd = events.at(static_cast<size_t>(i)).data.fd;
    uint64_t woken = 0;
    if (fd != system_->event) {
      ready.push_back(fd);
    } else if (::read(system_->event, &woken, sizeof woken) < 0) {
      continue;  // another look has reset it
    }
  }
  return ready;
}

void Poller::wake() {
  const uint64_t one = 1;
  if (::write(system_->event, &one, sizeof one) < 0) return;  // it is set already
}

}  // namespace tern::server
