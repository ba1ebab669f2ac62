#include "base/platform/socket.h"

#include <winsock2.h>
// After winsock2.h.
#include <ws2tcpip.h>

#include <algorithm>
#include <climits>
#include <iterator>
#include <utility>

namespace tern::platform {
namespace {

// Windows opens its sockets to a program that asks.
const bool is_started = [] {
  WSADATA ignored = {};
  return ::WSAStartup(MAKEWORD(2, 2), &ignored) == 0;
}();

// As on other systems where a user may meet it: Windows' own texts are in the user's language, and some are long.
std::error_code portable(int error) {
  constexpr std::pair<int, std::errc> kKnown[] = {{WSAEACCES, std::errc::permission_denied},
                                                  {WSAEADDRINUSE, std::errc::address_in_use},
                                                  {WSAEADDRNOTAVAIL, std::errc::address_not_available},
                                                  {WSAECONNREFUSED, std::errc::connection_refused},
                                                  {WSAECONNRESET, std::errc::connection_reset},
                                                  {WSAEHOSTUNREACH, std::errc::host_unreachable},
                                                  {WSAENETUNREACH, std::errc::network_unreachable},
                                                  {WSAETIMEDOUT, std::errc::timed_out}};
  const auto* const known = std::ranges::find(kKnown, error, &std::pair<int, std::errc>::first);
  if (known == std::end(kKnown)) return {error, std::system_category()};
  return std::make_error_code(known->second);
}

SOCKET native(int socket) { return static_cast<SOCKET>(static_cast<unsigned>(socket)); }

Moved moved(int n) {
  if (n > 0) return {.n = static_cast<size_t>(n)};
  return {.would_wait = n < 0 && ::WSAGetLastError() == WSAEWOULDBLOCK};
}

int at_once(size_t n) { return static_cast<int>(std::min<size_t>(n, INT_MAX)); }

SocketName ask_name(int socket, decltype(::getpeername)* ask) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  return ask(native(socket), any, &size) == 0 ? name_of(any, size) : SocketName();
}

}  // namespace

void never_wait(int socket) {
  u_long yes = 1;
  ::ioctlsocket(native(socket), FIONBIO, &yes);
}

Moved receive_some(int socket, std::span<char> to) {
  return moved(::recv(native(socket), to.data(), at_once(to.size()), 0));
}

Moved send_some(int socket, std::span<const char> from) {
  return moved(::send(native(socket), from.data(), at_once(from.size()), 0));
}

bool wait_for_socket(int socket, bool for_output, std::chrono::milliseconds most) {
  WSAPOLLFD ready = {.fd = native(socket), .events = static_cast<short>(for_output ? POLLOUT : POLLIN), .revents = 0};
  return ::WSAPoll(&ready, 1, static_cast<int>(std::clamp<int64_t>(most.count(), 0, INT_MAX))) > 0;
}

// Never waits, as the socket does not.
bool is_peer_alive(int socket) {
  char byte = 0;
  const Moved peeked = moved(::recv(native(socket), &byte, 1, MSG_PEEK));
  return peeked.n > 0 || peeked.would_wait;
}

SocketName peer_name(int socket) { return ask_name(socket, ::getpeername); }
SocketName own_name(int socket) { return ask_name(socket, ::getsockname); }
void end_output(int socket) { ::shutdown(native(socket), SD_SEND); }
void cut_socket(int socket) { ::shutdown(native(socket), SD_BOTH); }
void close_socket(int socket) { ::closesocket(native(socket)); }

// Without it, another program that sets SO_REUSEADDR could take over the port.
void take_port_alone(int socket) {
  const BOOL yes = TRUE;
  ::setsockopt(native(socket), SOL_SOCKET, SO_EXCLUSIVEADDRUSE, reinterpret_cast<const char*>(&yes), sizeof yes);
}

std::error_code last_socket_error() { return portable(::WSAGetLastError()); }

std::error_code try_to_connect(const sockaddr* address, size_t address_bytes, std::chrono::seconds most) {
  const SOCKET socket = ::socket(address->sa_family, SOCK_STREAM, 0);
  if (socket == INVALID_SOCKET) return last_socket_error();
  never_wait(static_cast<int>(socket));
  int error = ::connect(socket, address, static_cast<int>(address_bytes)) == 0 ? 0 : ::WSAGetLastError();
  if (error == WSAEWOULDBLOCK) {
    int size = sizeof error;
    // select() reports a connection that was refused, which WSAPoll() does not on older systems.
    fd_set made, failed;
    FD_ZERO(&made);
    FD_SET(socket, &made);
    failed = made;
    const timeval limit = {.tv_sec = static_cast<long>(most.count()), .tv_usec = 0};
    if (::select(0, nullptr, &made, &failed, &limit) <= 0) {
      error = WSAETIMEDOUT;
    } else if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, reinterpret_cast<char*>(&error), &size) != 0) {
      error = ::WSAGetLastError();
    }
  }
  ::closesocket(socket);
  return portable(error);
}

}  // namespace tern::platform
