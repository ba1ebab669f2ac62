// A client's connection: what has arrived on it, and the request that it begins with.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "server/connections/request_scan.h"
#include "server/connections/transport.h"

namespace tern::server {

// What the server's library gets a Range header as. It would refuse each that it does not understand, and apply others
// to every answer. Of the routes only files know ranges, and of their units only bytes (file_range.h).
inline constexpr std::string_view kRangeHeader = "x-rng";

using Peer = std::pair<std::string, int>;  // a numeric address, and a port

class Connection {
 public:
  using Clock = std::chrono::steady_clock;
  using State = RequestScan::State;

  Connection(int fd, void* tls);  // see Transport

  Transport& transport() { return transport_; }
  const Peer& peer() const { return peer_; }
  const Peer& own() const { return own_; }

  // Takes what has arrived, without waiting, as long as it may belong to the next request.
  IoState receive(const ScanLimits& limits);
  State look(const ScanLimits& limits);
  const RequestScan& request() const { return scan_; }

  size_t n_held() const { return input_.size() - begin_; }  // bytes that have arrived and are not taken
  bool holds(uint64_t n) const { return n_held() >= n; }
  size_t take(std::span<char> to);  // up to so many bytes of what has arrived
  // The request of which `n` bytes are not taken yet is done with: they are dropped. What follows is the next request.
  void begin_next(uint64_t n);

  // When the last answer was sent or the connection was made, and when something arrived last.
  Clock::time_point since = Clock::now(), last_arrival = since;
  int n_answered = 0;

 private:
  Transport transport_;
  Peer peer_, own_;
  std::string input_;
  size_t begin_ = 0;  // of what is not taken
  RequestScan scan_;
};

}  // namespace tern::server
