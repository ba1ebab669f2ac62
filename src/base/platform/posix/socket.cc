#include "base/platform/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace tern::platform {
namespace {

#ifdef MSG_NOSIGNAL
constexpr int kNoSignal = MSG_NOSIGNAL;
#else
constexpr int kNoSignal = 0;  // the library sets it for each socket
#endif

Moved moved(ssize_t n) {
  if (n > 0) return {.n = static_cast<size_t>(n)};
  return {.would_wait = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)};
}

SocketName ask_name(int socket, decltype(::getpeername)* ask) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  return ask(socket, any, &size) == 0 ? name_of(any, size) : SocketName();
}

}  // namespace

void never_wait(int socket) { ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK); }

Moved receive_some(int socket, std::span<char> to) { return moved(::recv(socket, to.data(), to.size(), 0)); }

Moved send_some(int socket, std::span<const char> from) {
  return moved(::send(socket, from.data(), from.size(), kNoSignal));
}

bool wait_for_socket(int socket, bool for_output, std::chrono::milliseconds most) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + most;
  while (true) {
    pollfd ready = {.fd = socket, .events = static_cast<short>(for_output ? POLLOUT : POLLIN), .revents = 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    const int n = ::poll(&ready, 1, static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX)));
    if (n >= 0 || errno != EINTR) return n > 0;
  }
}

bool is_peer_alive(int socket) {
  char byte = 0;
  const Moved peeked = moved(::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT));
  return peeked.n > 0 || peeked.would_wait;
}

SocketName peer_name(int socket) { return ask_name(socket, ::getpeername); }
SocketName own_name(int socket) { return ask_name(socket, ::getsockname); }
void end_output(int socket) { ::shutdown(socket, SHUT_WR); }
void cut_socket(int socket) { ::shutdown(socket, SHUT_RDWR); }
void close_socket(int socket) { ::close(socket); }

void take_port_alone(int socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

std::error_code last_socket_error() { return {errno, std::generic_category()}; }

std::error_code try_to_connect(const sockaddr* address, size_t address_bytes, std::chrono::seconds most) {
  const int socket = ::socket(address->sa_family, SOCK_STREAM, 0);
  if (socket < 0) return last_socket_error();
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  never_wait(socket);
  int error = ::connect(socket, address, static_cast<socklen_t>(address_bytes)) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    socklen_t size = sizeof error;
    if (!wait_for_socket(socket, /*for_output=*/true, most)) {
      error = ETIMEDOUT;
    } else if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
      error = errno;
    }
  }
  ::close(socket);
  return {error, std::generic_category()};
}

}  // namespace tern::platform
