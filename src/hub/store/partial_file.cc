#include "hub/store/partial_file.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/files/mapped_file.h"

namespace tern::hub {
namespace {

constexpr const char* kDataSuffix = ".incomplete";
constexpr const char* kStateSuffix = ".state";
constexpr const char* kMagic = "tern-download";

const char* remedy(std::error_code error) {
  if (platform::is_disk_full(error))
    return "free some space and pull again (it continues where it stopped), or set HF_HUB_CACHE to another disk";
  if (error == std::errc::permission_denied || error == std::errc::operation_not_permitted ||
      error == std::errc::read_only_file_system) {
    return "set HF_HUB_CACHE to a directory that you may write to";
  }
  return "try again, or set HF_HUB_CACHE to another disk";
}

void remove_quietly(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

// Removes "NUMBER" and one separator from the front of `text`. False if it does not begin so.
bool take_number(std::string_view& text, char separator, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size() || *end != separator) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return true;
}

}  // namespace

std::unexpected<Error> disk_error(const std::string& path, const char* action, std::error_code error) {
  return fail(ErrorCode::kIo, "{}: cannot {} it: {}; {}", path, action, error.message(), remedy(error));
}

uint64_t bytes_on_disk(const std::string& stem) {
  const auto info = platform::file_info(stem + kDataSuffix);
  return info ? info->stored_bytes : 0;
}

PartialFile::PartialFile(const std::string& stem, uint64_t size, uint64_t chunk_bytes)
    : path_(stem + kDataSuffix), state_path_(stem + kStateSuffix), size_(size), chunk_bytes_(chunk_bytes) {
  CHECK(chunk_bytes > 0);
}

void PartialFile::close_files() {
  file_.reset();
  state_file_.reset();
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
  const auto info = platform::file_info(path_);
  if (!info || info->size != size_) return;
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
  using platform::DiskFile;
  auto file = DiskFile::open(path_, DiskFile::Mode::kReadWrite);
  if (!file) return disk_error(path_, "create", file.error());
  file_ = std::make_unique<DiskFile>(std::move(*file));
  auto state_file = DiskFile::open(state_path_, DiskFile::Mode::kReadWrite);
  if (!state_file) return disk_error(state_path_, "create", state_file.error());
  state_file_ = std::make_unique<DiskFile>(std::move(*state_file));
  return start_state();
}

// Rewrites the state in its shortest form, and gives the data its size.
Result<void> PartialFile::start_state() {
  saved_.assign(have_.size(), 0);
  state_bytes_ = 0;
  if (!state_file_) return disk_error(state_path_, "write", std::make_error_code(std::errc::no_space_on_device));
  if (const auto cut = state_file_->resize(0); !cut) return disk_error(state_path_, "write", cut.error());
  if (done_ == 0) {
    if (const auto cut = file_->resize(0); !cut) return disk_error(path_, "write", cut.error());
  }
  if (const auto sized = file_->resize(size_); !sized) return disk_error(path_, "write", sized.error());
  const std::string head = format_text("{} {} {}\n", kMagic, size_, chunk_bytes_);
  TRY_STATUS(write_state(head));
  return save();
}

// Writes all of `text`, or fails. After half a line no other may follow, or the two would read as one.
Result<void> PartialFile::write_state(std::string_view text) {
  std::error_code error = std::make_error_code(std::errc::no_space_on_device);  // why an earlier call closed it
  if (state_file_) {
    const auto written = state_file_->write_at(state_bytes_, std::as_bytes(std::span(text)));
    state_bytes_ += text.size();
    if (written) return {};
    error = written.error();
  }
  state_file_.reset();
  return disk_error(state_path_, "write", error);
}

Result<void> PartialFile::write_line(size_t chunk) {
  const std::string line = format_text("{} {}\n", chunk, have_[chunk]);
  TRY_STATUS(write_state(line));
  saved_[chunk] = have_[chunk];
  return {};
}

Result<void> PartialFile::append(size_t chunk, Bytes bytes) {
  CHECK(chunk < have_.size() && bytes.size() <= chunk_size(chunk) - have_[chunk]);
  if (const auto written = file_->write_at(chunk_begin(chunk) + have_[chunk], bytes); !written)
    return disk_error(path_, "write", written.error());
  have_[chunk] += bytes.size();
  done_ += bytes.size();
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
  if (const auto synced = file_->sync(); !synced) return disk_error(path_, "write", synced.error());
  if (const auto renamed = platform::replace_file(path_, final_path); !renamed)
    return disk_error(final_path, "create", renamed.error());
  close_files();
  remove_quietly(state_path_);
  return {};
}

void PartialFile::discard() {
  close_files();
  remove_quietly(path_);
  remove_quietly(state_path_);
}

}  // namespace tern::hub
