// Ctrl-C: the first press ends generation cleanly; the second ends the program.
#pragma once

#include <atomic>
#include <csignal>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>

namespace tern::cli {

// Takes over SIGINT for its lifetime. Objects may nest: the latest one receives the signal, for example a download
// inside a server. A signal handler may do very little, so it only writes a byte into a pipe, and the waiting thread
// does the rest. The pipe works no matter which thread receives the signal.
class InterruptPipe {
 public:
  enum class SecondPress { kExits, kRepeats };  // kExits: immediately, with code 130
  static constexpr int kOnlyCtrlC[] = {SIGINT};
  static constexpr int kAnyEnd[] = {SIGINT, SIGTERM};

  // `signals`: SIGINT, and other signals that count as a press.
  explicit InterruptPipe(SecondPress second_press, std::span<const int> signals = kOnlyCtrlC);
  ~InterruptPipe();
  InterruptPipe(const InterruptPipe&) = delete;
  InterruptPipe& operator=(const InterruptPipe&) = delete;

  bool is_open() const;     // false: the system had no more of what this takes
  bool is_pressed() const;  // since the latest drain()
  void wait() const;        // returns after Ctrl-C or wake()
  void drain();             // discards the presses so far
  void wake();              // wait() returns without Ctrl-C
  int fd() const;           // where there are pipes to poll: readable after Ctrl-C or wake(); -1 if it is not open

 private:
  struct Handlers;
  std::unique_ptr<Handlers> handlers_;
};

// Provides a stop_token that Ctrl-C triggers.
class StopOnInterrupt {
 public:
  explicit StopOnInterrupt(std::span<const int> signals = InterruptPipe::kOnlyCtrlC);
  ~StopOnInterrupt();

  std::stop_token token() const { return source_.get_token(); }
  void request_stop() { source_.request_stop(); }  // for other reasons, such as output that cannot be written
  bool interrupted() const { return interrupted_; }

 private:
  std::optional<InterruptPipe> pipe_;  // none where it, or its thread, cannot be had: Ctrl-C then ends the program
  std::stop_source source_;
  std::atomic<bool> interrupted_ = false;
  std::atomic<bool> closing_ = false;
  std::jthread watcher_;  // waits for pipe_ and turns a press into a stop request
};

}  // namespace tern::cli
