#include "server/connections/transport.h"

#include <httplib.h>

#include <array>

#include "base/platform/socket.h"

#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
#include <openssl/err.h>
#include <openssl/ssl.h>
#endif

namespace tern::server {
namespace {

IoResult result_of(platform::Moved moved, IoState need) {
  if (moved.n > 0) return {.state = IoState::kDone, .n = moved.n};
  return {.state = moved.would_wait ? need : IoState::kEnded};
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

Transport::Transport(int fd, [[maybe_unused]] void* tls) : fd_(fd) {
  platform::never_wait(fd);
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
  if (tls) tls_ = std::make_unique<Tls>(fd, tls);
#endif
}

Transport::~Transport() {
  tls_.reset();
  platform::close_socket(fd_);
}

IoResult Transport::receive(std::span<char> to) {
  return tls_ ? tls_->receive(to) : result_of(platform::receive_some(fd_, to), IoState::kNeedsInput);
}

IoResult Transport::send(std::span<const char> from) {
  return tls_ ? tls_->send(from) : result_of(platform::send_some(fd_, from), IoState::kNeedsOutput);
}

IoResult Transport::drop() {
  std::array<char, size_t{16} << 10> bytes;
  return result_of(platform::receive_some(fd_, bytes), IoState::kNeedsInput);
}

bool Transport::wait(IoState need, std::chrono::milliseconds most) const {
  return platform::wait_for_socket(fd_, need == IoState::kNeedsOutput, most);
}

bool Transport::is_peer_alive() const { return platform::is_peer_alive(fd_); }

void Transport::end_output() {
  if (tls_) tls_->end();
  platform::end_output(fd_);
}

void Transport::cut() { platform::cut_socket(fd_); }

}  // namespace tern::server
