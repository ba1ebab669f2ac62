#include "server/connections/transport.h"

#include <fcntl.h>
#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
#include <openssl/err.h>
#include <openssl/ssl.h>
#endif

namespace tern::server {
namespace {

IoResult result_of(ssize_t n, IoState need) {
  if (n > 0) return {.state = IoState::kDone, .n = static_cast<size_t>(n)};
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return {.state = need};
  return {.state = IoState::kEnded};
}

}  // namespace

#ifdef CPPHTTPLIB_OPENSSL_SUPPORT

struct Transport::Tls {
  SSL* session;

  Tls(int fd, void* context) : session(SSL_new(static_cast<SSL_CTX*>(context))) {
    if (!session) return;
    SSL_set_fd(session, fd);
    SSL_set_accept_state(session);
    // A caller may go on from another buffer with the same bytes, and with fewer than it has.
    SSL_set_mode(session, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_ENABLE_PARTIAL_WRITE);
  }
  ~Tls() { SSL_free(session); }
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  template <class Move>
  IoResult move(const Move& bytes) const {
    if (!session) return {.state = IoState::kEnded};
    ERR_clear_error();
    size_t n = 0;
    const int done = bytes(session, &n);
    if (done > 0) return {.state = IoState::kDone, .n = n};
    switch (SSL_get_error(session, done)) {
      case SSL_ERROR_WANT_READ:
        return {.state = IoState::kNeedsInput};
      case SSL_ERROR_WANT_WRITE:
        return {.state = IoState::kNeedsOutput};
      default:
        return {.state = IoState::kEnded};
    }
  }
  IoResult receive(std::span<char> to) const {
    return move([to](SSL* tls, size_t* n) { return SSL_read_ex(tls, to.data(), to.size(), n); });
  }
  IoResult send(std::span<const char> from) const {
    return move([from](SSL* tls, size_t* n) { return SSL_write_ex(tls, from.data(), from.size(), n); });
  }
  void end() const {
    if (session && SSL_is_init_finished(session)) SSL_shutdown(session);
    ERR_clear_error();
  }
};

#else

struct Transport::Tls {  // never made: a server with TLS cannot be opened
  IoResult receive(std::span<char>) const { return {}; }
  IoResult send(std::span<const char>) const { return {}; }
  void end() const {}
};

#endif

Transport::Transport(int fd, void* tls) : fd_(fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
  if (tls) tls_ = std::make_unique<Tls>(fd, tls);
#endif
}

Transport::~Transport() {
  tls_.reset();
  ::close(fd_);
}

IoResult Transport::receive(std::span<char> to) {
  return tls_ ? tls_->receive(to) : result_of(::recv(fd_, to.data(), to.size(), 0), IoState::kNeedsInput);
}

IoResult Transport::send(std::span<const char> from) {
  return tls_ ? tls_->send(from)
              : result_of(::send(fd_, from.data(), from.size(), MSG_NOSIGNAL), IoState::kNeedsOutput);
}

IoResult Transport::drop() {
  std::array<char, size_t{16} << 10> bytes;
  return result_of(::recv(fd_, bytes.data(), bytes.size(), 0), IoState::kNeedsInput);
}

bool Transport::wait(IoState need, std::chrono::milliseconds most) const {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + most;
  const auto events = static_cast<short>(need == IoState::kNeedsOutput ? POLLOUT : POLLIN);
  while (true) {
    pollfd ready = {.fd = fd_, .events = events, .revents = 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    const int n = ::poll(&ready, 1, static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX)));
    if (n >= 0 || errno != EINTR) return n > 0;
  }
}

bool Transport::is_peer_alive() const {
  char byte = 0;
  const ssize_t n = ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

void Transport::end_output() {
  if (tls_) tls_->end();
  ::shutdown(fd_, SHUT_WR);
}

void Transport::cut() { ::shutdown(fd_, SHUT_RDWR); }

}  // namespace tern::server
