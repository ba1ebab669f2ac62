// The connections that a server has open, and an end to those that take too long over what they have to say or to take.
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

// Every open connection of the program to its own port `port`, with the file descriptor.
void for_each_connection(int port, const std::function<void(int fd, const Peer& peer)>& on_connection);

// The library gives up where nothing comes for a while. Whoever sends a byte now and then keeps a thread for as long as
// it likes. So a connection has a time in which its next request must be there, whole, and its answer taken.
class ConnectionWatch {
 public:
  // Watches connections to `port`, which have `most` for a request.
  ConnectionWatch(int port, std::chrono::milliseconds most);

  // From the connection's thread: a request is there in part, or an answer is out, and what follows has `most` again.
  void expect_more(const Peer& peer);
  // It is whole: how long the answer takes is not the asker's fault.
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
