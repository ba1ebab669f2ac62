#include "hub/store/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
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
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return disk_error(path, "create", errno);
  FileLock lock(fd);
  bool waiting = false;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) break;  // no locks on this file system: a download is still safe, only wasteful
    if (!std::exchange(waiting, true)) on_wait();
    if (stop.stop_requested()) return fail(ErrorCode::kInterrupted, "interrupted while waiting for another process");
    std::this_thread::sleep_for(kLockPollTime);
  }
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace tern::hub
