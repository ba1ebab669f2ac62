// Lines of a server's log on a file descriptor that somebody should read.
#pragma once

#include <chrono>
#include <mutex>
#include <string_view>

namespace tern::cli {

// A pipe is full where its reader stands still, and would hold up whoever writes: requests that were answered long ago,
// and all others behind them. Here a line waits for `patience`, those after it for nothing, and what does not fit is
// lost; the next line that fits says how many were. Safe to use from any thread.
class LogPipe {
 public:
  explicit LogPipe(int fd, std::chrono::milliseconds patience = std::chrono::seconds(1))
      : fd_(fd), patience_(patience) {}

  // With a line end after it. Of a line longer than the pipe has room for, the rest waits for the reader.
  void write(std::string_view line);

 private:
  bool takes_some() const;  // waits for it

  const int fd_;
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  unsigned long long n_lost_ = 0;  // since the last line that was written
};

}  // namespace tern::cli
