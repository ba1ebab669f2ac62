// Files of a page (base/files/file.h), owned by JavaScript. They cannot be mapped: a resident file is a copy in memory.
#include "base/files/file.h"

#include <cstdlib>

#include "base/files/mapped_file.h"
#include "base/web/library_files.h"
#include "base/web/take_text.h"

namespace tern {
namespace {

constexpr uint64_t kPieceBytes = uint64_t{8} << 20;

class PageFile final : public File {
 public:
  PageFile(std::string path, uint64_t size) : path_(std::move(path)), size_(size) {}

  const std::string& path() const override { return path_; }
  uint64_t size() const override { return size_; }
  Bytes resident() const override { return memory_ ? Bytes(memory_.get(), static_cast<size_t>(size_)) : Bytes(); }

  Result<void> read(uint64_t offset, MutableBytes into) const override {
    const std::string error =
        take_text(tern_file_read(path_.c_str(), static_cast<double>(offset), into.data(), into.size()));
    return error.empty() ? Result<void>() : fail(ErrorCode::kIo, "{}", error);
  }

  Result<void> bring() {
    // Leaves the last gigabyte for computation.
    if (size_ <= SIZE_MAX - (uint64_t{1} << 30))
      memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, round_up(size_, 64))));
    if (!memory_) {
      return fail(ErrorCode::kOutOfMemory,
                  "{}: its {} MB do not fit into the memory of a page; use a smaller model, or WebGPU", path_,
                  size_ >> 20);
    }
    for (uint64_t at = 0; at < size_; at += kPieceBytes) {
      TRY_STATUS(read(at, MutableBytes(memory_.get() + at, static_cast<size_t>(std::min(kPieceBytes, size_ - at)))));
    }
    return {};
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::string path_;
  uint64_t size_;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace

Result<std::unique_ptr<File>> open_file(const std::string& path, Access access) {
  const double size = tern_file_size(path.c_str());
  if (size < 0) return fail(ErrorCode::kNotFound, "{}: there is no such file", path);
  if (size == 0) return fail(ErrorCode::kCorruption, "{}: the file is empty; download or write it again", path);
  auto file = std::make_unique<PageFile>(path, static_cast<uint64_t>(size));
  if (access == Access::kResident) TRY_STATUS(file->bring());
  return file;
}

Result<std::string> read_text_file(const std::string& path) {
  TRY(const auto file, open_file(path, Access::kResident));
  return std::string(as_text(file->resident()));
}

bool maps_files() { return false; }

bool is_file(const std::string& path) { return tern_file_size(path.c_str()) >= 0; }

bool is_directory(const std::string& path) { return !list_directory(path).empty(); }

std::vector<std::string> list_directory(const std::string& path) {
  const std::string text = take_text(tern_file_names(path.c_str()));
  const auto names = parts_of(text, '\n');
  return {names.begin(), names.end()};
}

}  // namespace tern
