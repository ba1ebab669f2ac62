// The end of a connection whose peer may be sending still.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

#include "server/connections.h"

namespace tern::server {

// A connection that is closed while there are bytes that nobody has read is reset: its peer, who is still sending, sees
// an error and perhaps never the answer. So what comes is read and dropped for a while before it is closed. That holds
// the connection's thread, so only so many may do it at a time; the others are closed at once.
class LastWords {
 public:
  // From the connection's thread, once the answer is out: returns when the peer has closed, or after 2 s or 4 MiB.
  // `is_plain`: without TLS, where the peer is told that nothing more comes.
  void drop(int port, const Peer& peer, bool is_plain);

 private:
  static constexpr int kMostAtOnce = 64;
  static constexpr std::chrono::seconds kMostTime{2};
  static constexpr size_t kMostBytes = size_t{4} << 20;

  std::atomic<int> n_ = 0;
};

}  // namespace tern::server
