// Holds all connections of a server on one thread, and gives those whose next request has arrived to other threads.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "server/connections/connection.h"
#include "server/connections/poller.h"
#include "server/connections/request_stream.h"
#include "server/connections/request_threads.h"
#include "tern/error.h"

namespace tern::server {

struct FrontOptions {
  ScanLimits scan = {};
  StreamLimits stream = {};
  std::chrono::milliseconds idle = std::chrono::seconds(60);  // without a request
  size_t most_connections = 16'384;                           // of all; the one that is idle longest makes room
  size_t most_long_bodies = 32;                               // are read at a time; each takes a thread
  size_t most_held_bytes = size_t{256} << 20;                 // of requests that have not all arrived

  struct Refusal {
    std::string media_type, body;
  };
  // The answer to a request that is refused before it is parsed, as 400, 408, 414, 431, 501 or 503.
  std::function<Refusal(const Peer& peer, int status, const std::string& why)> refusal = {};
};

// A connection that is silent, slow, or waits for its turn takes memory only. A request has a thread from when all of
// it has arrived until its answer is sent; a long body is read by that thread.
class ConnectionFront {
 public:
  static constexpr int kMostRequests = 10'000;  // on one connection

  // Answers one request. `is_last`: the connection ends with it. False: the connection cannot go on.
  using Answer = std::function<bool(RequestStream& stream, const Connection& connection, bool is_last)>;

  // kIo: the system has no thread or no poller for it.
  static Result<std::unique_ptr<ConnectionFront>> open(FrontOptions options);
  ~ConnectionFront();
  ConnectionFront(const ConnectionFront&) = delete;
  ConnectionFront& operator=(const ConnectionFront&) = delete;

  void set_answer(Answer answer) { answer_ = std::move(answer); }  // before the first connection
  void add(int fd, void* tls);                                     // from any thread
  void cut();   // ends the input and output of all connections, which ends requests in progress
  void stop();  // ends silent connections, and waits for the requests in progress

 private:
  using Clock = Connection::Clock;
  using Owned = std::unique_ptr<Connection>;
  enum class Stage : uint8_t { kReading, kWaiting, kEnding };  // kWaiting: for another long body to end
  struct Parked {
    Owned connection;
    Stage stage = Stage::kReading;
    IoState need = IoState::kNeedsInput;
    Clock::time_point end_of_stage = {};
    size_t n_dropped = 0;
    size_t n_held = 0;  // as counted in n_held_
  };

  ConnectionFront(FrontOptions options, std::unique_ptr<Poller> poller);

  // On the front's thread.
  void run();
  void take_returned();
  void on_ready(int fd);
  void advance(Parked& parked);
  void give_to_thread(int fd, bool is_long);
  void start_waiting();
  void refuse(Parked& parked, int status, const std::string& why);
  void begin_end(Parked& parked);
  void drop(Parked& parked);
  void close(int fd);
  void end_late();
  bool make_room(int fd);
  bool count_held(Parked& parked);
  void forget(std::unordered_map<int, Parked>::iterator parked);

  // On a request's thread.
  void answer(Owned connection, bool is_long);
  void end_long();

  const FrontOptions options_;
  const std::unique_ptr<Poller> poller_;
  Answer answer_;
  RequestThreads threads_;
  std::atomic<bool> is_stopping_ = false;

  std::mutex mutex_;  // of the next three
  std::vector<Parked> returned_;
  std::set<int> open_;  // all sockets
  size_t n_long_ = 0;

  std::unordered_map<int, Parked> parked_;  // the front's thread alone uses it
  std::deque<int> waiting_;                 // those in kWaiting, the first first
  size_t n_held_ = 0;                       // bytes of all parked connections
  std::jthread thread_;                     // the last member: it uses the others
};

}  // namespace tern::server
