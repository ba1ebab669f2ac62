// A lock between processes, compatible with huggingface_hub: flock on a separate file, where there is flock.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <utility>

#include "base/platform/disk_file.h"
#include "base/result.h"

namespace tern::hub {

class FileLock {
 public:
  // Takes the lock. If another process holds it, calls `on_wait` once and waits. kInterrupted; kIo: the file cannot be
  // created. The kernel releases the lock when the process ends, however it ends.
  static Result<FileLock> take(const std::string& path, const std::stop_token& stop,
                               const std::function<void()>& on_wait);

 private:
  explicit FileLock(platform::DiskFile file) : file_(std::move(file)) {}
  platform::DiskFile file_;
};

}  // namespace tern::hub
