// Lists the open connections of a server, and ends those that send or receive too slowly.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace tern::server {

using Peer = std::pair<std::string, int>;  // a numeric address, and a port

// Calls `on_connection` for every open connection of the program to its own port `port`, with the file descriptor.
void for_each_connection(int port, const std::function<void(int fd, const Peer& peer)>& on_connection);

// The library closes a connection after a silence. But a client that sends a byte now and then could keep a thread for
// as long as it likes. Each connection therefore has a deadline to send its next complete request and take its answer.
class ConnectionWatch {
 public:
  // Watches connections to `port`. Each has the time `most` for a request.
  ConnectionWatch(int port, std::chrono::milliseconds most);

  // Call it from the connection's thread when a part of a request has arrived or an answer is sent: `most` restarts.
  void expect_more(const Peer& peer);
  // The request is complete: there is no deadline, because the time to answer it is not the client's fault.
  void expect_nothing(const Peer& peer);

 private:
  using Clock = std::chrono::steady_clock;
  void run(const std::stop_token& stop);
  void look();

  const int port_;
  const std::chrono::milliseconds most_;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::map<Peer, std::optional<Clock::time_point>> deadlines_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace tern::server
