#include "base/files/file.h"

#include <cstring>
#include <filesystem>

#include "base/files/mapped_file.h"
#include "base/platform/disk_file.h"

namespace tern {
namespace {

namespace fs = std::filesystem;

class ResidentFile final : public File {
 public:
  explicit ResidentFile(MappedFile file) : file_(std::move(file)) {}

  const std::string& path() const override { return file_.path(); }
  uint64_t size() const override { return file_.bytes().size(); }
  Bytes resident() const override { return file_.bytes(); }
  Result<void> read(uint64_t offset, MutableBytes into) const override {
    std::memcpy(into.data(), file_.bytes().subspan(offset, into.size()).data(), into.size());
    return {};
  }
  void populate(const std::function<void(uint64_t, uint64_t)>& on_progress) const override {
    file_.populate(on_progress);
  }

 private:
  MappedFile file_;
};

class PieceFile final : public File {
 public:
  PieceFile(std::string path, uint64_t size, platform::DiskFile file)
      : path_(std::move(path)), size_(size), file_(std::move(file)) {}

  static Result<std::unique_ptr<File>> open(const std::string& path, uint64_t size) {
    auto file = platform::DiskFile::open(path, platform::DiskFile::Mode::kRead);
    if (!file) return fail(ErrorCode::kIo, "{}: cannot open it: {}", path, file.error().message());
    return std::make_unique<PieceFile>(path, size, std::move(*file));
  }

  const std::string& path() const override { return path_; }
  uint64_t size() const override { return size_; }
  Result<void> read(uint64_t offset, MutableBytes into) const override {
    CHECK(offset <= size_ && into.size() <= size_ - offset);
    for (size_t at = 0; at < into.size();) {
      const auto n = file_.read_some_at(offset + at, into.subspan(at));
      if (!n) {
        return fail(ErrorCode::kIo, "{}: cannot read it at byte {}: {}", path_, offset + at, n.error().message());
      }
      if (*n == 0) {
        return fail(ErrorCode::kIo, "{}: the file became shorter while it was read; nothing may write to it meanwhile",
                    path_);
      }
      at += *n;
    }
    return {};
  }

 private:
  std::string path_;
  uint64_t size_;
  platform::DiskFile file_;
};

}  // namespace

Result<std::unique_ptr<File>> open_file(const std::string& path, Access access) {
  TRY(MappedFile mapped, MappedFile::open(path));  // mapping is cheap and finds all errors
  if (access == Access::kResident) return std::make_unique<ResidentFile>(std::move(mapped));
  return PieceFile::open(path, mapped.bytes().size());
}

bool maps_files() { return true; }

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_directory(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::vector<std::string> list_directory(const std::string& path) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path, ignored)) names.push_back(entry.path().filename().string());
  return names;
}

}  // namespace tern
