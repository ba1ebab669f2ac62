#include "base/files/mapped_file.h"

#include <algorithm>
#include <utility>

#include "base/platform/disk_file.h"
#include "base/platform/memory.h"

namespace tern {
namespace {

using platform::DiskFile;
using platform::FileKind;

std::unexpected<Error> io_error(const std::string& path, const char* action, std::error_code error) {
  const ErrorCode code = error == std::errc::no_such_file_or_directory ? ErrorCode::kNotFound : ErrorCode::kIo;
  return fail(code, "{}: cannot {} it: {}", path, action, error.message());
}

struct OpenFile {
  DiskFile file;
  platform::FileInfo info;
};

Result<OpenFile> open_for_reading(const std::string& path, DiskFile::Mode mode) {
  if (path == "-") return OpenFile{DiskFile::standard_input(), {}};
  auto file = DiskFile::open(path, mode);
  if (!file) return io_error(path, "open", file.error());
  const auto info = file->info();
  if (!info) return io_error(path, "read", info.error());
  if (info->kind == FileKind::kDirectory) return fail(ErrorCode::kIo, "{}: this is a directory; name a file", path);
  return OpenFile{std::move(*file), *info};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  TRY(const OpenFile open, open_for_reading(path, DiskFile::Mode::kReadAtOnce));
  if (open.info.kind != FileKind::kRegular)
    return fail(ErrorCode::kIo, "{}: not a regular file, so it cannot be mapped", path);
  if (open.info.size == 0)
    return fail(ErrorCode::kCorruption, "{}: the file is empty; download or write it again", path);
  const auto bytes = platform::map_file(open.file, static_cast<size_t>(open.info.size));
  if (!bytes) return io_error(path, "map", bytes.error());
  return MappedFile(path, *bytes);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) platform::unmap_file(bytes_);
}

void MappedFile::populate(const std::function<void(uint64_t, uint64_t)>& on_progress) const {
  constexpr size_t kStep = size_t{32} << 20;
  // Weights stream through memory, so every page costs a lookup.
  platform::advise_large_pages(bytes_);
  for (size_t done = 0; done < bytes_.size();) {
    const size_t n = std::min(kStep, bytes_.size() - done);
    platform::load_mapped(bytes_.subspan(done, n));
    done += n;
    on_progress(done, bytes_.size());
  }
}

Result<std::string> read_text_file(const std::string& path) {
  TRY(const OpenFile open, open_for_reading(path, DiskFile::Mode::kRead));
  std::string text;
  constexpr size_t kChunk = 1 << 16;
  for (;;) {
    const size_t old_size = text.size();
    text.resize(old_size + kChunk);
    const auto n = open.file.read_some({reinterpret_cast<std::byte*>(text.data()) + old_size, kChunk});
    text.resize(old_size + n.value_or(0));
    if (!n) return io_error(path == "-" ? "standard input" : path, "read", n.error());
    if (*n == 0) return text;
  }
}

}  // namespace tern
