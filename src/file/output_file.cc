#include "file/output_file.h"

#include <utility>

#include "base/check.h"

namespace tern {
namespace {

using platform::DiskFile;
using platform::FileKind;

constexpr size_t kBufferBytes = 1 << 20;

const char* remedy(std::error_code error) {
  const auto is_one_of = [&](auto... conditions) { return ((error == conditions) || ...); };
  if (platform::is_disk_full(error)) return "free some space, or write elsewhere";
  if (is_one_of(std::errc::permission_denied, std::errc::operation_not_permitted, std::errc::read_only_file_system))
    return "write to a directory that you may write to";
  if (is_one_of(std::errc::no_such_file_or_directory, std::errc::not_a_directory)) return "make its directory first";
  if (is_one_of(std::errc::file_too_large)) return "raise the limit on the size of files ('ulimit -f')";
  if (is_one_of(std::errc::broken_pipe)) return "the reading program ended early";
  if (is_one_of(std::errc::is_a_directory)) return "name a file";
  return "try again, or write elsewhere";
}

std::unexpected<Error> io_error(const std::string& path, const char* action, std::error_code error) {
  return fail(ErrorCode::kIo, "{}: cannot {} it: {}; {}", path, action, error.message(), remedy(error));
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
  OutputFile file;
  file.path_ = path == "-" ? "standard output" : path;
  file.buffer_.reserve(kBufferBytes);
  if (path == "-") {
    file.direct_ = DiskFile::standard_output();
    return file;
  }
  const auto info = platform::file_info(path);
  if (info && info->kind == FileKind::kDirectory)
    return io_error(path, "write", std::make_error_code(std::errc::is_a_directory));
  if (!info || info->kind == FileKind::kRegular) {
    auto draft = DraftFile::create(path);
    if (!draft) return io_error(path, "create", draft.error());
    file.draft_.emplace(*std::move(draft));
  } else {
    auto opened = DiskFile::open(path, DiskFile::Mode::kWrite);
    if (!opened) return io_error(path, "create", opened.error());
    file.direct_ = std::move(*opened);
  }
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      draft_(std::exchange(other.draft_, std::nullopt)),
      direct_(std::exchange(other.direct_, std::nullopt)),
      buffer_(std::move(other.buffer_)),
      error_(std::move(other.error_)) {}

OutputFile::~OutputFile() = default;

void OutputFile::discard() {
  direct_.reset();
  draft_.reset();
}

std::unexpected<Error> OutputFile::give_up(std::error_code error, const char* action) {
  error_ = io_error(path_, action, error).error();
  discard();
  return std::unexpected(*error_);
}

Result<void> OutputFile::write(Bytes bytes) {
  if (error_) return std::unexpected(*error_);
  CHECK(draft_ || direct_);  // finish() was not called
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
  if (const auto written = file().write(bytes); !written) return give_up(written.error(), "write");
  return {};
}

Result<void> OutputFile::finish() {
  if (error_) return std::unexpected(*error_);
  CHECK(draft_ || direct_);  // first call of finish()
  TRY_STATUS(write_through(buffer_));
  buffer_.clear();
  if (draft_) {
    // Sync before the rename: otherwise, after a crash, the name may exist without the bytes.
    if (const auto synced = draft_->file().sync(); !synced) return give_up(synced.error(), "write");
    if (const auto kept = draft_->keep(); !kept) return give_up(kept.error(), "rename the finished file to");
  } else if (const auto closed = direct_->close(); !closed) {
    return give_up(closed.error(), "write");
  }
  discard();
  return {};
}

}  // namespace tern
