#include "hub/store/partial_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/check.h"
#include "base/files/mapped_file.h"

namespace tern::hub {
namespace {

constexpr const char* kDataSuffix = ".incomplete";
constexpr const char* kStateSuffix = ".state";
constexpr const char* kMagic = "tern-download";

const char* remedy(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "free some space and pull again (it continues where it stopped), or set HF_HUB_CACHE to another disk";
    case EACCES:
    case EPERM:
    case EROFS:
      return "set HF_HUB_CACHE to a directory that you may write to";
    default:
      return "try again, or set HF_HUB_CACHE to another disk";
  }
}

// Removes "NUMBER" and one separator from the front of `text`. False if it does not begin so.
bool take_number(std::string_view& text, char separator, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size() || *end != separator) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return true;
}

}  // namespace

std::unexpected<Error> disk_error(const std::string& path, const char* action, int error_number) {
  return fail(ErrorCode::kIo, "{}: cannot {} it: {}; {}", path, action, std::strerror(error_number),
              remedy(error_number));
}

uint64_t bytes_on_disk(const std::string& stem) {
  struct stat info;
  return ::stat((stem + kDataSuffix).c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_blocks) * 512 : 0;
}

PartialFile::PartialFile(const std::string& stem, uint64_t size, uint64_t chunk_bytes)
    : path_(stem + kDataSuffix), state_path_(stem + kStateSuffix), size_(size), chunk_bytes_(chunk_bytes) {
  CHECK(chunk_bytes > 0);
}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : path_(std::move(other.path_)),
      state_path_(std::move(other.state_path_)),
      size_(other.size_),
      chunk_bytes_(other.chunk_bytes_),
      have_(std::move(other.have_)),
      saved_(std::move(other.saved_)),
      done_(other.done_),
      resumed_(other.resumed_),
      fd_(std::exchange(other.fd_, -1)),
      state_fd_(std::exchange(other.state_fd_, -1)) {}

PartialFile::~PartialFile() { close_files(); }

void PartialFile::close_files() {
  for (int* fd : {&fd_, &state_fd_}) {
    if (*fd >= 0) ::close(std::exchange(*fd, -1));
  }
}

uint64_t PartialFile::chunk_size(size_t chunk) const { return std::min(chunk_bytes_, size_ - chunk_begin(chunk)); }

Result<PartialFile> PartialFile::open(const std::string& stem, uint64_t size, uint64_t chunk_bytes) {
  PartialFile file(stem, size, chunk_bytes);
  file.read_state();
  TRY_STATUS(file.open_files());
  return file;
}

// Leaves have_ all zero if there is no state, or one that does not fit the data.
void PartialFile::read_state() {
  const auto forget = [this] {
    have_.assign(static_cast<size_t>(ceil_div(size_, chunk_bytes_)), 0);
    done_ = 0;
  };
  forget();
  struct stat info;
  if (::stat(path_.c_str(), &info) != 0 || static_cast<uint64_t>(info.st_size) != size_) return;
  const Result<std::string> text = read_text_file(state_path_);
  if (!text || !text->starts_with(kMagic)) return;
  std::string_view rest = std::string_view(*text).substr(std::strlen(kMagic));
  uint64_t size = 0, chunk_bytes = 0;
  if (!rest.starts_with(' ')) return;
  rest.remove_prefix(1);
  if (!take_number(rest, ' ', size) || !take_number(rest, '\n', chunk_bytes)) return;
  if (size != size_ || chunk_bytes == 0 || ceil_div(size, chunk_bytes) > 1'000'000) return;
  chunk_bytes_ = chunk_bytes;
  forget();
  uint64_t chunk = 0, bytes = 0;
  // An incomplete line ends the loop: all lines before it are valid.
  while (take_number(rest, ' ', chunk) && take_number(rest, '\n', bytes)) {
    if (chunk >= have_.size() || bytes > chunk_size(chunk)) return forget();
    have_[chunk] = bytes;
  }
  for (const uint64_t n : have_) done_ += n;
  resumed_ = done_ > 0;
}

Result<void> PartialFile::open_files() {
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) return disk_error(path_, "create", errno);
  state_fd_ = ::open(state_path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (state_fd_ < 0) return disk_error(state_path_, "create", errno);
  return start_state();
}

// Rewrites the state in its shortest form, and gives the data its size.
Result<void> PartialFile::start_state() {
  saved_.assign(have_.size(), 0);
  if (::ftruncate(state_fd_, 0) != 0) return disk_error(state_path_, "write", errno);
  if (done_ == 0 && ::ftruncate(fd_, 0) != 0) return disk_error(path_, "write", errno);
  if (::ftruncate(fd_, static_cast<off_t>(size_)) != 0) return disk_error(path_, "write", errno);
  const std::string head = format_text("{} {} {}\n", kMagic, size_, chunk_bytes_);
  TRY_STATUS(write_state(head));
  return save();
}

// Writes all of `text`, or fails. After half a line no other may follow, or the two would read as one.
Result<void> PartialFile::write_state(std::string_view text) {
  errno = ENOSPC;  // what a short write means
  if (state_fd_ >= 0 && ::write(state_fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size())) return {};
  const int error_number = errno;
  if (state_fd_ >= 0) ::close(std::exchange(state_fd_, -1));
  return disk_error(state_path_, "write", error_number);
}

Result<void> PartialFile::write_line(size_t chunk) {
  const std::string line = format_text("{} {}\n", chunk, have_[chunk]);
  TRY_STATUS(write_state(line));
  saved_[chunk] = have_[chunk];
  return {};
}

Result<void> PartialFile::append(size_t chunk, Bytes bytes) {
  CHECK(chunk < have_.size() && bytes.size() <= chunk_size(chunk) - have_[chunk]);
  while (!bytes.empty()) {
    const auto at = static_cast<off_t>(chunk_begin(chunk) + have_[chunk]);
    const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return disk_error(path_, "write", errno);
    bytes = bytes.subspan(static_cast<size_t>(n));
    have_[chunk] += static_cast<uint64_t>(n);
    done_ += static_cast<uint64_t>(n);
  }
  return has_all(chunk) || have_[chunk] - saved_[chunk] >= kLineBytes ? write_line(chunk) : Result<void>();
}

Result<void> PartialFile::restart() {
  std::ranges::fill(have_, 0);
  done_ = 0;
  resumed_ = false;
  return start_state();
}

Result<void> PartialFile::save() {
  for (size_t chunk = 0; chunk < have_.size(); ++chunk) {
    if (have_[chunk] != saved_[chunk]) TRY_STATUS(write_line(chunk));
  }
  return {};
}

Result<void> PartialFile::finish(const std::string& final_path) {
  CHECK(done_ == size_);
  // Otherwise a power cut could leave the name without the bytes.
  if (::fsync(fd_) != 0) return disk_error(path_, "write", errno);
  if (::rename(path_.c_str(), final_path.c_str()) != 0) return disk_error(final_path, "create", errno);
  ::unlink(state_path_.c_str());
  close_files();
  return {};
}

void PartialFile::discard() {
  ::unlink(path_.c_str());
  ::unlink(state_path_.c_str());
  close_files();
}

}  // namespace tern::hub
