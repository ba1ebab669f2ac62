#include "server/api/durable_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/result.h"
#include "base/text/format_text.h"

namespace tern::server {
namespace {

// Makes the creation or removal of a name survive a loss of power.
Result<void> sync_folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return disk_error(folder, "cannot be opened");
  const bool is_there = ::fsync(fd) == 0;
  const int error = errno;
  ::close(fd);
  errno = error;
  return is_there ? Result<void>() : disk_error(folder, "cannot be written");
}

}  // namespace

std::unexpected<Error> disk_error(const std::string& path, std::string_view what) {
  return fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, "{}: {}: {}", path, what, std::strerror(errno));
}

Result<NewFile> NewFile::create(const std::string& path) {
  NewFile file(path, -1);
  file.fd_ = ::open(file.part().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file.fd_ < 0) return disk_error(file.part(), "cannot be made");
  return file;
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), bytes_(other.bytes_) {}

NewFile::~NewFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(part().c_str());
}

Result<void> NewFile::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return disk_error(part(), "cannot be written");
    bytes.remove_prefix(static_cast<size_t>(n));
    bytes_ += static_cast<uint64_t>(n);
  }
  return {};
}

Result<void> NewFile::keep() {
  if (::fsync(fd_) != 0) return disk_error(part(), "cannot be written");
  if (auto moved = move_file(part(), path_); !moved) return moved;
  ::close(std::exchange(fd_, -1));
  return {};
}

Result<void> write_file(const std::string& path, std::string_view text) {
  auto file = NewFile::create(path);
  if (!file) return std::unexpected(file.error());
  if (auto added = file->add(text); !added) return added;
  return file->keep();
}

Result<void> move_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) return disk_error(to, "cannot be made");
  return sync_folder_of(to);
}

Result<void> remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return disk_error(path, "cannot be removed");
  return sync_folder_of(path);
}

Result<void> make_folder(const std::string& path) {
  std::error_code error;
  if (std::filesystem::create_directories(path, error)) {
    std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
  }
  if (!error && std::filesystem::is_directory(path, error)) return {};
  return fail(ErrorCode::kIo, "{}: the folder cannot be made: {}", path,
              error ? error.message() : "there is a file of that name");
}

Result<std::vector<std::string>> files_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    names.push_back(entries->path().filename());
  }
  if (!error) return names;
  return fail(ErrorCode::kIo, "{}: cannot be read: {}", folder, error.message());
}

Result<FileLock> FileLock::open(const std::string& path, mode_t mode) {
  FileLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, mode));
  if (lock.fd_ < 0) return disk_error(path, "cannot be written");
  return lock;
}

Result<FileLock> FileLock::take(const std::string& path, const std::string& taken) {
  Result<FileLock> lock = open(path, 0600);
  if (!lock || ::flock(lock->fd_, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return disk_error(path, "cannot be locked");
  return fail(ErrorCode::kIo, "{}", taken);
}

Result<FileLock> FileLock::wait_for(const std::string& path) {
  Result<FileLock> lock = open(path, 0644);
  if (!lock || ::flock(lock->fd_, LOCK_EX) == 0) return lock;
  return disk_error(path, "cannot be locked");
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace tern::server
