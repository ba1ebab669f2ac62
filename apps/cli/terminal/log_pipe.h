// Writes the lines of a server's log to a file descriptor that another program may read.
#pragma once

#include <chrono>
#include <mutex>
#include <string_view>

namespace tern::cli {

// If the reader stalls, its pipe fills up and would block the writing threads: requests that were already answered, and
// all others behind them. Here a line waits up to `patience`; later lines do not wait while the pipe is full. Lines
// that do not fit are dropped, and the next line that fits reports their number. Thread-safe.
class LogPipe {
 public:
  explicit LogPipe(int fd, std::chrono::milliseconds patience = std::chrono::seconds(1))
      : fd_(fd), patience_(patience) {}

  // Adds a line end. If the line is longer than the free space of the pipe, the rest waits for the reader.
  void write(std::string_view line);

 private:
  bool takes_some() const;  // waits up to patience_ for space

  const int fd_;
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  unsigned long long n_lost_ = 0;  // since the last line that was written
};

}  // namespace tern::cli
