#include "server/drain_body.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <vector>

namespace tern::server {
namespace {

using Clock = std::chrono::steady_clock;

void drop_until(int fd, Clock::time_point end, size_t most) {
  std::vector<char> bytes(size_t{64} << 10);
  for (size_t n_dropped = 0; n_dropped < most;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    pollfd ready = {.fd = fd, .events = POLLIN, .revents = 0};
    const int n_ready = left.count() > 0 ? ::poll(&ready, 1, static_cast<int>(left.count())) : 0;
    if (n_ready < 0 && errno == EINTR) continue;
    if (n_ready <= 0) return;
    const ssize_t n = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return;
    n_dropped += static_cast<size_t>(n);
  }
}

}  // namespace

void LastWords::drop(int port, const Peer& peer, bool is_plain) {
  if (n_.fetch_add(1) < kMostAtOnce) {
    int fd = -1;
    for_each_connection(port, [&](int one, const Peer& of) { fd = of == peer ? one : fd; });
    if (fd >= 0 && is_plain) ::shutdown(fd, SHUT_WR);
    if (fd >= 0) drop_until(fd, Clock::now() + kMostTime, kMostBytes);
  }
  --n_;
}

}  // namespace tern::server
