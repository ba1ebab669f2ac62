#include "file/output_file.h"

#include <atomic>
#include <filesystem>
#include <utility>

#include "base/check.h"
#include "base/platform/process.h"

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
  if (is_one_of(std::errc::broken_pipe)) return "the reading program ended early";
  if (is_one_of(std::errc::is_a_directory)) return "name a file";
  return "try again, or write elsewhere";
}

std::unexpected<Error> io_error(const std::string& path, const char* action, std::error_code error) {
  return fail(ErrorCode::kIo, "{}: cannot {} it: {}; {}", path, action, error.message(), remedy(error));
}

// Creates a new file beside `target` and stores its name in `partial`, which is empty on failure. The process id and a
// counter make the name unique. Existing files, left by a killed process with the same id, are skipped.
platform::SystemResult<DiskFile> open_partial(const std::string& target, std::string& partial) {
  static std::atomic<unsigned> n_made = 0;
  constexpr int kTries = 100;
  platform::SystemResult<DiskFile> file = std::unexpected(std::error_code());
  for (int i = 0; i < kTries && !file; ++i) {
    partial = format_text("{}.{}-{}.partial", target, platform::process_id(), n_made++);
    file = DiskFile::open(partial, DiskFile::Mode::kCreateNew);
    if (!file && file.error() != std::errc::file_exists) break;
  }
  if (!file) partial.clear();  // not ours to delete
  return file;
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
  OutputFile file;
  file.path_ = path == "-" ? "standard output" : path;
  file.buffer_.reserve(kBufferBytes);
  if (path == "-") {
    file.file_ = DiskFile::standard_output();
    return file;
  }
  const auto info = platform::file_info(path);
  if (info && info->kind == FileKind::kDirectory)
    return io_error(path, "write", std::make_error_code(std::errc::is_a_directory));
  platform::SystemResult<DiskFile> opened = std::unexpected(std::error_code());
  if (!info || info->kind == FileKind::kRegular) {
    std::error_code unresolved;
    const auto resolved = std::filesystem::canonical(path, unresolved);
    file.target_ = unresolved ? path : resolved.string();
    opened = open_partial(file.target_, file.partial_);
  } else {
    opened = DiskFile::open(path, DiskFile::Mode::kWrite);
  }
  if (!opened) return io_error(path, "create", opened.error());
  file.file_ = std::move(*opened);
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      partial_(std::exchange(other.partial_, {})),
      file_(std::exchange(other.file_, std::nullopt)),
      buffer_(std::move(other.buffer_)),
      error_(std::move(other.error_)) {}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() {
  file_.reset();
  std::error_code ignored;
  if (!partial_.empty()) std::filesystem::remove(partial_, ignored);
  partial_.clear();
}

std::unexpected<Error> OutputFile::give_up(std::error_code error, const char* action) {
  error_ = io_error(path_, action, error).error();
  discard();
  return std::unexpected(*error_);
}

Result<void> OutputFile::write(Bytes bytes) {
  if (error_) return std::unexpected(*error_);
  CHECK(file_.has_value());  // finish() was not called
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
  if (const auto written = file_->write(bytes); !written) return give_up(written.error(), "write");
  return {};
}

Result<void> OutputFile::finish() {
  if (error_) return std::unexpected(*error_);
  CHECK(file_.has_value());  // first call of finish()
  TRY_STATUS(write_through(buffer_));
  buffer_.clear();
  // Sync before the rename: otherwise, after a crash, the name may exist without the bytes.
  if (!partial_.empty()) {
    if (const auto synced = file_->sync(); !synced) return give_up(synced.error(), "write");
  }
  const auto closed = file_->close();
  file_.reset();
  if (!closed) return give_up(closed.error(), "write");
  if (partial_.empty()) return {};
  if (const auto renamed = platform::replace_file(partial_, target_); !renamed)
    return give_up(renamed.error(), "rename the finished file to");
  partial_.clear();
  return {};
}

}  // namespace tern
