#include "server/connections/poller.h"

#include <winsock2.h>
// After winsock2.h.
#include <ws2tcpip.h>

#include <algorithm>
#include <span>
#include <system_error>
#include <utility>

#include "base/result.h"

namespace tern::server {
namespace {

SOCKET native(int fd) { return static_cast<SOCKET>(static_cast<unsigned>(fd)); }
short events_of(IoState need) { return need == IoState::kNeedsOutput ? POLLOUT : POLLIN; }

// A socket that sends to itself.
SOCKET own_mail() {
  const SOCKET socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int size = sizeof(address);
  u_long yes = 1;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const bool is_made = socket != INVALID_SOCKET && ::bind(socket, any, size) == 0 &&
                       ::getsockname(socket, any, &size) == 0 && ::connect(socket, any, size) == 0 &&
                       ::ioctlsocket(socket, FIONBIO, &yes) == 0;
  if (is_made) return socket;
  if (socket != INVALID_SOCKET) ::closesocket(socket);
  return INVALID_SOCKET;
}

}  // namespace

// The first of the sockets is for waking.
struct Poller::System {
  std::vector<WSAPOLLFD> sockets = {{.fd = own_mail(), .events = POLLIN, .revents = 0}};

  auto find(int fd) { return std::ranges::find(sockets, native(fd), &WSAPOLLFD::fd); }
  System() = default;
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  ~System() {
    if (sockets.front().fd != INVALID_SOCKET) ::closesocket(sockets.front().fd);
  }
};

Result<std::unique_ptr<Poller>> Poller::open() {
  auto system = std::make_unique<System>();
  const int why = ::WSAGetLastError();
  if (system->sockets.front().fd != INVALID_SOCKET) return std::unique_ptr<Poller>(new Poller(std::move(system)));
  return fail(ErrorCode::kIo, "cannot wait for connections: {}",
              std::error_code(why, std::system_category()).message());
}

Poller::Poller(std::unique_ptr<System> system) : system_(std::move(system)) {}
Poller::~Poller() = default;

bool Poller::add(int fd, IoState need) {
  system_->sockets.push_back({.fd = native(fd), .events = events_of(need), .revents = 0});
  return true;
}

void Poller::change(int fd, IoState need) {
  if (const auto found = system_->find(fd); found != system_->sockets.end()) found->events = events_of(need);
}

void Poller::remove(int fd) {
  const auto found = system_->find(fd);
  if (found == system_->sockets.end()) return;
  *found = system_->sockets.back();
  system_->sockets.pop_back();
}

std::vector<int> Poller::wait(std::chrono::milliseconds most) {
  auto& sockets = system_->sockets;
  const int n = ::WSAPoll(sockets.data(), static_cast<ULONG>(sockets.size()), static_cast<int>(most.count()));
  std::vector<int> ready;
  if (n <= 0) return ready;
  char bytes[64];
  if (sockets.front().revents != 0) {
    while (::recv(sockets.front().fd, bytes, sizeof bytes, 0) > 0) {
    }
  }
  for (const WSAPOLLFD& socket : std::span(sockets).subspan(1)) {
    if (socket.revents != 0) ready.push_back(static_cast<int>(socket.fd));
  }
  return ready;
}

void Poller::wake() {
  const char byte = 'w';
  ::send(system_->sockets.front().fd, &byte, 1, 0);  // where it does not fit, another one is on its way
}

}  // namespace tern::server
