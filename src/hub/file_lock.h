// A lock between processes, as huggingface_hub takes it: flock on a file of its own.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace tern::hub {

class FileLock {
 public:
  // Takes the lock, waiting for whoever holds it; `on_wait` is called once before waiting. kInterrupted; kIo where the
  // file cannot be made. The kernel lets go of it when the process ends, however it ends.
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
