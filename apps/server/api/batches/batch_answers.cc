#include "server/api/batches/batch_answers.h"

#include <span>
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
  auto file = platform::DiskFile::open(path, platform::DiskFile::Mode::kReadWrite);
  if (!file) return disk_error(path, "cannot be opened", file.error());
  auto answers = std::unique_ptr<BatchAnswers>(new BatchAnswers(path, std::move(*file)));
  const auto info = answers->file_.info();
  if (!info || info->kind != platform::FileKind::kRegular) {
    return std::unexpected(
        Error{ErrorCode::kInvalidArgument, format_text("{}: is no regular file, in which a batch could go on", path)});
  }
  if (!platform::try_lock_file(answers->file_).value_or(false)) {
    return fail(ErrorCode::kIo, "{}: another program is writing it", path);
  }
  if (auto read = answers->read_those_there(); !read) return std::unexpected(read.error());
  return answers;
}

Result<void> BatchAnswers::add(const Json& answer) {
  const std::string line = dump(answer) + "\n";
  const std::scoped_lock lock(mutex_);
  if (const auto written = file_.write_at(size_, std::as_bytes(std::span(line))); !written) {
    [[maybe_unused]] const auto cut = file_.resize(size_);
    return disk_error(path_, "cannot be written", written.error());
  }
  size_ += line.size();
  return {};
}

Result<void> BatchAnswers::sync() {
  const auto synced = file_.sync();
  return synced ? Result<void>() : disk_error(path_, "cannot be written", synced.error());
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
    const auto n = file_.read_some_at(at, std::as_writable_bytes(std::span(piece)));
    if (!n) return disk_error(path_, "cannot be read", n.error());
    if (*n == 0) break;
    if (at == 0) first = piece.front();
    at += *n;
    held.append(piece, 0, *n);
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
  if (held.empty()) return {};
  const auto cut = file_.resize(size_);
  return cut ? Result<void>() : disk_error(path_, "cannot be written", cut.error());
}

}  // namespace tern::server
