// Closes a connection whose peer may still be sending.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

#include "server/connections.h"

namespace tern::server {

// Closing a connection with unread bytes resets it: a peer that is still sending sees an error, and perhaps never the
// answer. So incoming bytes are read and dropped for a while before it is closed. That occupies the connection's
// thread, so only a limited number do it at a time; the others are closed at once.
class LastWords {
 public:
  // Call it from the connection's thread when the answer is sent. Returns when the peer has closed, or after 2 s or 4
  // MiB. `is_plain`: without TLS; the peer is then told that nothing more follows.
  void drop(int port, const Peer& peer, bool is_plain);

 private:
  static constexpr int kMostAtOnce = 64;
  static constexpr std::chrono::seconds kMostTime{2};
  static constexpr size_t kMostBytes = size_t{4} << 20;

  std::atomic<int> n_ = 0;
};

}  // namespace tern::server
