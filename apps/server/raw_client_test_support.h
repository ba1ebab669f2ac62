// A client for tests that sends what no library would.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace tern::server::test {

class RawClient {
 public:
  // `room`: size of the receive buffer in bytes; 0: the system's default.
  explicit RawClient(int port, int room = 0) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (room > 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    sockaddr_in address = {.sin_family = AF_INET,
                           .sin_port = htons(static_cast<uint16_t>(port)),
                           .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)},
                           .sin_zero = {}};
    is_open_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    EXPECT_TRUE(is_open_);
  }
  ~RawClient() { ::close(fd_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // Makes the send buffer small, so that sending gets no further than the server reads.
  void send_without_room() const {
    const int room = 1 << 17;
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  }

  // False once the server has closed the connection.
  bool send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t n = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      text.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

  // Sends a byte at a time until the server closes the connection, at most `n` times; returns how many it sent.
  int send_slowly(char byte, int n, std::chrono::milliseconds pause) const {
    for (int i = 0; i < n; ++i) {
      if (!send({&byte, 1}) || is_ended()) return i;
      ::usleep(static_cast<useconds_t>(pause.count() * 1000));
    }
    return n;
  }

  bool is_ended() const {
    char byte = 0;
    const ssize_t n = ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
  }

  // Returns at most `most` bytes; empty at the end.
  std::string receive(size_t most = 1 << 16) const {
    std::string text(most, '\0');
    const ssize_t n = ::recv(fd_, text.data(), text.size(), 0);
    text.resize(static_cast<size_t>(n > 0 ? n : 0));
    return text;
  }
  std::string receive_all() const {
    std::string all;
    for (std::string piece = receive(); !piece.empty(); piece = receive()) all += piece;
    return all;
  }

 private:
  int fd_;
  bool is_open_;
};

inline std::string post_head(std::string_view path, std::string_view more = "") {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
         std::string(more) + "\r\n";
}
inline std::string raw_post(std::string_view path, std::string_view body) {
  return post_head(path, "Content-Length: " + std::to_string(body.size()) + "\r\n") + std::string(body);
}

}  // namespace tern::server::test
