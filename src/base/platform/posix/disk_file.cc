#include "base/platform/disk_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace tern::platform {
namespace {

std::unexpected<std::error_code> last_error() {
  return std::unexpected(std::error_code(errno, std::generic_category()));
}

int descriptor(intptr_t handle) { return static_cast<int>(handle); }

// Writing into a pipe without a reader raises SIGPIPE, which would end the process before EPIPE can be reported. This
// blocks the signal on the calling thread and discards the one that the write raised. Programs that ignore the signal
// need nothing of this, and write often.
class SigpipeBlocker {
 public:
  SigpipeBlocker() {
    struct sigaction action = {};
    is_needed_ = sigaction(SIGPIPE, nullptr, &action) != 0 || action.sa_handler != SIG_IGN;
    if (!is_needed_) return;
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    was_pending_ = is_pending();
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &old_mask_);
  }
  SigpipeBlocker(const SigpipeBlocker&) = delete;
  SigpipeBlocker& operator=(const SigpipeBlocker&) = delete;
  ~SigpipeBlocker() {
    if (!is_needed_) return;
    if (!was_pending_ && is_pending()) {
      int signal_number = 0;
      sigwait(&sigpipe_, &signal_number);
    }
    pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
  }

 private:
  static bool is_pending() {
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
  }

  sigset_t sigpipe_{};
  sigset_t old_mask_{};
  bool is_needed_ = false;
  bool was_pending_ = false;
};

int64_t nanoseconds(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

FileInfo info_of(const struct stat& status) {
  FileInfo info{.size = static_cast<uint64_t>(status.st_size),
                .id = status.st_ino,
                .n_names = status.st_nlink,
                .stored_bytes = static_cast<uint64_t>(status.st_blocks) * 512};
  if (S_ISREG(status.st_mode)) info.kind = FileKind::kRegular;
  if (S_ISDIR(status.st_mode)) info.kind = FileKind::kDirectory;
#ifdef __APPLE__
  info.written_ns = nanoseconds(status.st_mtimespec);
  info.changed_ns = nanoseconds(status.st_ctimespec);
#else
  info.written_ns = nanoseconds(status.st_mtim);
  info.changed_ns = nanoseconds(status.st_ctim);
#endif
  return info;
}

int open_flags(DiskFile::Mode mode) {
  switch (mode) {
    case DiskFile::Mode::kRead:
      return O_RDONLY;
    case DiskFile::Mode::kReadAtOnce:
      return O_RDONLY | O_NONBLOCK;
    case DiskFile::Mode::kReadNoLink:
      return O_RDONLY | O_NONBLOCK | O_NOFOLLOW;
    case DiskFile::Mode::kWrite:
      return O_WRONLY;
    case DiskFile::Mode::kCreateNew:
      return O_WRONLY | O_CREAT | O_EXCL;
    case DiskFile::Mode::kReplace:
      return O_WRONLY | O_CREAT | O_TRUNC;
    case DiskFile::Mode::kReadWrite:
      return O_RDWR | O_CREAT;
  }
  return O_RDONLY;
}

}  // namespace

SystemResult<DiskFile> DiskFile::open(const std::string& path, Mode mode, Readers readers) {
  const int fd = ::open(path.c_str(), open_flags(mode) | O_CLOEXEC, readers == Readers::kUser ? 0600 : 0666);
  if (fd < 0) return last_error();
  return DiskFile(fd, true);
}

DiskFile DiskFile::standard_input() { return DiskFile(STDIN_FILENO, false); }
DiskFile DiskFile::standard_output() { return DiskFile(STDOUT_FILENO, false); }

DiskFile::~DiskFile() {
  if (is_owned_ && handle_ != kNone) ::close(descriptor(handle_));
}

SystemResult<FileInfo> DiskFile::info() const {
  struct stat status{};
  if (::fstat(descriptor(handle_), &status) != 0) return last_error();
  return info_of(status);
}

SystemResult<size_t> DiskFile::read_some(MutableBytes into) const {
  while (true) {
    const ssize_t n = ::read(descriptor(handle_), into.data(), into.size());
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EINTR) return last_error();
  }
}

SystemResult<size_t> DiskFile::read_some_at(uint64_t offset, MutableBytes into) const {
  while (true) {
    const ssize_t n = ::pread(descriptor(handle_), into.data(), into.size(), static_cast<off_t>(offset));
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EINTR) return last_error();
  }
}

SystemResult<void> DiskFile::write(Bytes bytes) {
  const SigpipeBlocker blocker;
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor(handle_), bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) return last_error();
    if (n > 0) bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return {};
}

SystemResult<void> DiskFile::write_at(uint64_t offset, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(descriptor(handle_), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno != EINTR) return last_error();
    if (n <= 0) continue;
    offset += static_cast<uint64_t>(n);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return {};
}

SystemResult<void> DiskFile::resize(uint64_t bytes) {
  if (::ftruncate(descriptor(handle_), static_cast<off_t>(bytes)) != 0) return last_error();
  return {};
}

SystemResult<void> DiskFile::sync() {
  while (::fsync(descriptor(handle_)) != 0) {
    if (errno == EINVAL || errno == ENOSYS || errno == EROFS) return {};
    if (errno != EINTR) return last_error();
  }
  return {};
}

SystemResult<void> DiskFile::close() {
  const intptr_t handle = std::exchange(handle_, kNone);
  if (is_owned_ && handle != kNone && ::close(descriptor(handle)) != 0 && errno != EINTR) return last_error();
  return {};
}

bool is_disk_full(std::error_code error) {
  return error == std::errc::no_space_on_device || error == std::error_code(EDQUOT, std::generic_category());
}

SystemResult<FileInfo> file_info(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return last_error();
  return info_of(status);
}

SystemResult<void> lock_file(const DiskFile& file) {
  while (::flock(descriptor(file.handle()), LOCK_EX) != 0) {
    if (errno != EINTR) return last_error();
  }
  return {};
}

SystemResult<bool> try_lock_file(const DiskFile& file) {
  while (::flock(descriptor(file.handle()), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) return last_error();
  }
  return true;
}

SystemResult<void> link_file(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) != 0) return last_error();
  return {};
}

SystemResult<void> touch_file(const std::string& path) {
  if (::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) != 0) return last_error();
  return {};
}

SystemResult<void> sync_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return last_error();
  const SystemResult<void> result = ::fsync(fd) == 0 ? SystemResult<void>() : last_error();
  ::close(fd);
  return result;
}

void remove_file_at_end(const char* path) noexcept { ::unlink(path); }

SystemResult<void> replace_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) return last_error();
  return {};
}

}  // namespace tern::platform
