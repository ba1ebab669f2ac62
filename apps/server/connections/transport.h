// A socket, with TLS or without, that is read and written without waiting.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

namespace tern::server {

enum class IoState { kDone, kNeedsInput, kNeedsOutput, kEnded };
struct IoResult {
  IoState state = IoState::kEnded;
  size_t n = 0;  // bytes that were moved
};

// One thread at a time uses it; any may call cut().
class Transport {
 public:
  // Owns `fd` from now on. `tls`: the library's TLS context; null: without TLS. The handshake is part of the first
  // bytes that are received.
  Transport(int fd, void* tls);
  ~Transport();  // closes the socket
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  int fd() const { return fd_; }
  IoResult receive(std::span<char> to);
  IoResult send(std::span<const char> from);
  // Reads what the peer still sends and drops it, TLS or not. kEnded: the peer has closed.
  IoResult drop();
  // Waits for what a result needs. False: it did not come in time.
  bool wait(IoState need, std::chrono::milliseconds most) const;
  bool is_peer_alive() const;
  void end_output();  // the peer learns that nothing more follows
  void cut();         // ends both directions at once

 private:
  struct Tls;
  const int fd_;
  std::unique_ptr<Tls> tls_;
};

}  // namespace tern::server
