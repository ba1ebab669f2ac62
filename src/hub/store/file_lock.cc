#include "hub/store/file_lock.h"

#include <chrono>
#include <thread>
#include <utility>

#include "hub/store/partial_file.h"

namespace tern::hub {
namespace {

constexpr auto kLockPollTime = std::chrono::milliseconds(50);

}  // namespace

Result<FileLock> FileLock::take(const std::string& path, const std::stop_token& stop,
                                const std::function<void()>& on_wait) {
  auto file = platform::DiskFile::open(path, platform::DiskFile::Mode::kReadWrite);
  if (!file) return disk_error(path, "create", file.error());
  bool waiting = false;
  while (true) {
    // No locks on this file system: a download is still safe, only wasteful.
    if (platform::try_lock_file(*file).value_or(true)) return FileLock(std::move(*file));
    if (!std::exchange(waiting, true)) on_wait();
    if (stop.stop_requested()) return fail(ErrorCode::kInterrupted, "interrupted while waiting for another process");
    std::this_thread::sleep_for(kLockPollTime);
  }
}

}  // namespace tern::hub
