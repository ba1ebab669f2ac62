// One request of a connection as the server's library reads it, and the way back for the answer.
#pragma once

#include <httplib.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include "server/connections/connection.h"

namespace tern::server {

struct StreamLimits {
  std::chrono::milliseconds silence = std::chrono::seconds(30);  // between two pieces of a body or an answer
  std::chrono::milliseconds request = std::chrono::minutes(2);   // for a body, and a second more for each 16 kB of it
};

// Ends where the request ends, so that nothing that reads it can take bytes of the next one.
class RequestStream final : public httplib::Stream {
 public:
  // `on_whole` is called once: when the request has been read to its end, or with the stream's own end.
  RequestStream(Connection& connection, const StreamLimits& limits, std::function<void()> on_whole = {});
  ~RequestStream() override { tell_whole(); }

  bool is_readable() const override { return n_left_ > 0 && connection_.holds(1); }
  bool wait_readable() const override;
  bool wait_writable() const override;
  bool is_peer_alive() const override { return connection_.transport().is_peer_alive(); }
  ssize_t read(char* to, size_t n) override;
  ssize_t write(const char* from, size_t n) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return connection_.transport().fd(); }
  time_t duration() const override;

  // Passes over the part of the request that was not read. False: it has not all arrived, or its end is not known.
  bool finish();

 private:
  static constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();
  using Clock = Connection::Clock;
  std::chrono::milliseconds patience() const;
  void tell_whole() {
    if (on_whole_) std::exchange(on_whole_, nullptr)();
  }

  Connection& connection_;
  const StreamLimits limits_;
  const Clock::time_point start_ = Clock::now();
  uint64_t n_left_, n_read_ = 0;
  std::function<void()> on_whole_;
};

}  // namespace tern::server
