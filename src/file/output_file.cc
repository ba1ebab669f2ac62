#include "file/output_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/check.h"

namespace tern {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

// Writing into a pipe without a reader raises SIGPIPE, which would end the process before EPIPE can be reported. This
// blocks the signal on the calling thread and discards the one that the write raised.
class SigpipeBlocker {
 public:
  SigpipeBlocker() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    was_pending_ = is_pending();
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &old_mask_);
  }
  SigpipeBlocker(const SigpipeBlocker&) = delete;
  SigpipeBlocker& operator=(const SigpipeBlocker&) = delete;
  ~SigpipeBlocker() {
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
  bool was_pending_ = false;
};

const char* remedy(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "free some space, or write elsewhere";
    case EACCES:
    case EPERM:
    case EROFS:
      return "write to a directory that you may write to";
    case ENOENT:
    case ENOTDIR:
      return "make its directory first";
    case EPIPE:
      return "the reading program ended early";
    case EISDIR:
      return "name a file";
    default:
      return "try again, or write elsewhere";
  }
}

std::unexpected<Error> io_error(const std::string& path, const char* action, int error_number) {
  return fail(ErrorCode::kIo, "{}: cannot {} it: {}; {}", path, action, std::strerror(error_number),
              remedy(error_number));
}

// Creates a new file beside `target` and stores its name in `partial`; returns -1 and an empty name on failure. The
// process id and a counter make the name unique. Existing files, left by a killed process with the same id, are
// skipped.
int open_partial(const std::string& target, std::string& partial) {
  static std::atomic<unsigned> n_made = 0;
  constexpr int kTries = 100;
  int fd = -1;
  for (int i = 0; i < kTries && fd < 0; ++i) {
    partial = format_text("{}.{}-{}.partial", target, ::getpid(), n_made++);
    fd = ::open(partial.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
    if (fd < 0 && errno != EEXIST) break;
  }
  if (fd < 0) partial.clear();  // not ours to delete
  return fd;
}

// True if all bytes are on disk, or if the file system does not support fsync.
bool is_on_disk(int fd) {
  while (::fsync(fd) != 0) {
    if (errno != EINTR) return errno == EINVAL || errno == ENOSYS || errno == EROFS;
  }
  return true;
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
  OutputFile file;
  file.path_ = path == "-" ? "standard output" : path;
  file.buffer_.reserve(kBufferBytes);
  if (path == "-") {
    file.fd_ = STDOUT_FILENO;
    file.owns_fd_ = false;
    return file;
  }
  struct stat info;
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return io_error(path, "write", EISDIR);
  if (!exists || S_ISREG(info.st_mode)) {
    std::error_code unresolved;
    const auto resolved = std::filesystem::canonical(path, unresolved);
    file.target_ = unresolved ? path : resolved.string();
    file.fd_ = open_partial(file.target_, file.partial_);
  } else {
    file.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  }
  if (file.fd_ < 0) return io_error(path, "create", errno);
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      partial_(std::exchange(other.partial_, {})),
      fd_(std::exchange(other.fd_, -1)),
      owns_fd_(other.owns_fd_),
      buffer_(std::move(other.buffer_)),
      error_(std::move(other.error_)) {}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() {
  if (fd_ >= 0 && owns_fd_) ::close(fd_);
  fd_ = -1;
  if (!partial_.empty()) ::unlink(partial_.c_str());
  partial_.clear();
}

std::unexpected<Error> OutputFile::give_up(int error_number, const char* action) {
  error_ = io_error(path_, action, error_number).error();
  discard();
  return std::unexpected(*error_);
}

Result<void> OutputFile::write(Bytes bytes) {
  if (error_) return std::unexpected(*error_);
  CHECK(fd_ >= 0);  // finish() was not called
  if (bytes.size() < kBufferBytes - buffer_.size()) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return {};
  }
  TRY_STATUS(write_through(buffer_));
  buffer_.clear();
  if (bytes.size() >= kBufferBytes) return write_through(bytes);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return {};
}

Result<void> OutputFile::write_through(Bytes bytes) {
  std::optional<SigpipeBlocker> held_back;
  if (partial_.empty()) held_back.emplace();
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return give_up(errno, "write");
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return {};
}

Result<void> OutputFile::finish() {
  if (error_) return std::unexpected(*error_);
  CHECK(fd_ >= 0);  // first call of finish()
  TRY_STATUS(write_through(buffer_));
  buffer_.clear();
  // Sync before the rename: otherwise, after a crash, the name may exist without the bytes.
  if (!partial_.empty() && !is_on_disk(fd_)) return give_up(errno, "write");
  const int fd = std::exchange(fd_, -1);
  // Some file systems report a full disk or quota only here.
  if (owns_fd_ && ::close(fd) != 0 && errno != EINTR) return give_up(errno, "write");
  if (partial_.empty()) return {};
  if (::rename(partial_.c_str(), target_.c_str()) != 0) return give_up(errno, "rename the finished file to");
  partial_.clear();
  return {};
}

}  // namespace tern
