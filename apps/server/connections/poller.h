// Waits for many sockets at once.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "server/connections/transport.h"
#include "tern/error.h"

namespace tern::server {

class Poller {
 public:
  // kIo: the system has no more of what this takes.
  static Result<std::unique_ptr<Poller>> open();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  bool add(int fd, IoState need);     // kNeedsInput or kNeedsOutput; false: there is no room
  void change(int fd, IoState need);  // of one that was added
  void remove(int fd);                // before it is closed

  // The sockets that have what they need or have ended; empty after `most`, or when woken.
  std::vector<int> wait(std::chrono::milliseconds most);
  void wake();  // from any thread

 private:
  struct System;
  explicit Poller(std::unique_ptr<System> system);
  const std::unique_ptr<System> system_;
};

}  // namespace tern::server
