// A lock between processes, compatible with huggingface_hub: flock on a separate file.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace tern::hub {

class FileLock {
 public:
  // Takes the lock. If another process holds it, calls `on_wait` once and waits. kInterrupted; kIo: the file cannot be
  // created. The kernel releases the lock when the process ends, however it ends.
  static Result<FileLock> take(const std::string& path, const std::stop_token& stop,
                               const std::function<void()>& on_wait);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace tern::hub
