#include "server/api/batches/batch_answers.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text/format_text.h"
#include "server/api/durable_files.h"
#include "server/api/replies/answer.h"

namespace tern::server {

std::optional<std::string> answered_id(std::string_view line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const Json id = json.is_object() ? json.value("custom_id", Json()) : Json();
  return id.is_string() ? std::optional(id.get<std::string>()) : std::nullopt;
}

Result<std::unique_ptr<BatchAnswers>> BatchAnswers::open(const std::string& path) {
  auto answers = std::unique_ptr<BatchAnswers>(new BatchAnswers(path));
  answers->fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (answers->fd_ < 0) return disk_error(path, "cannot be opened");
  struct stat status = {};
  if (::fstat(answers->fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::unexpected(
        Error{ErrorCode::kInvalidArgument, format_text("{}: is no regular file, in which a batch could go on", path)});
  }
  if (::flock(answers->fd_, LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::kIo, "{}: another program is writing it", path);
  }
  if (auto read = answers->read_those_there(); !read) return std::unexpected(read.error());
  return answers;
}

BatchAnswers::~BatchAnswers() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> BatchAnswers::add(const Json& answer) {
  const std::string line = dump(answer) + "\n";
  const std::scoped_lock lock(mutex_);
  size_t n = 0;
  while (n < line.size()) {
    const ssize_t written = ::pwrite(fd_, line.data() + n, line.size() - n, static_cast<off_t>(size_ + n));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const auto error = disk_error(path_, "cannot be written");
      [[maybe_unused]] const int cut = ::ftruncate(fd_, static_cast<off_t>(size_));
      return error;
    }
    n += static_cast<size_t>(written);
  }
  size_ += line.size();
  return {};
}

Result<void> BatchAnswers::sync() {
  if (::fsync(fd_) != 0) return disk_error(path_, "cannot be written");
  return {};
}

Result<void> BatchAnswers::take_id(std::string_view line, size_t number) {
  if (std::optional<std::string> id = answered_id(line)) {
    ids_.insert(*std::move(id));
    return {};
  }
  return fail(ErrorCode::kInvalidArgument, "{}, line {}: is no answer of a batch; name another file", path_, number);
}

Result<void> BatchAnswers::read_those_there() {
  std::string held;
  uint64_t at = 0;
  size_t number = 0;
  char first = '{';
  for (std::string piece(size_t{1} << 20, '\0');;) {
    const ssize_t n = ::pread(fd_, piece.data(), piece.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return disk_error(path_, "cannot be read");
    if (n == 0) break;
    if (at == 0) first = piece.front();
    at += static_cast<uint64_t>(n);
    held.append(piece, 0, static_cast<size_t>(n));
    size_t begin = 0;
    for (size_t end = held.find('\n'); end != held.npos; end = held.find('\n', begin)) {
      const std::string_view line = std::string_view(held).substr(begin, end - begin);
      ++number;
      if (line.find_first_not_of(" \t\r") != line.npos) {
        if (auto taken = take_id(line, number); !taken) return taken;
      }
      begin = end + 1;
    }
    size_ += begin;
    held.erase(0, begin);
  }
  if (size_ == 0 && first != '{') {
    return std::unexpected(
        Error{ErrorCode::kInvalidArgument, format_text("{}: is no file of answers; name another", path_)});
  }
  // A last line without a line end is incomplete, so remove it.
  if (!held.empty() && ::ftruncate(fd_, static_cast<off_t>(size_)) != 0) return disk_error(path_, "cannot be written");
  return {};
}

}  // namespace tern::server
