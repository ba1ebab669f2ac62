#include "base/files/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/files/mapped_file.h"

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
  PieceFile(std::string path, uint64_t size) : path_(std::move(path)), size_(size) {}
  PieceFile(const PieceFile&) = delete;
  PieceFile& operator=(const PieceFile&) = delete;
  ~PieceFile() override {
    if (fd_ >= 0) ::close(fd_);
  }

  Result<void> open() {
    fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ >= 0) return {};
    return fail(ErrorCode::kIo, "{}: cannot open it: {}", path_, std::strerror(errno));
  }

  const std::string& path() const override { return path_; }
  uint64_t size() const override { return size_; }
  Result<void> read(uint64_t offset, MutableBytes into) const override {
    CHECK(offset <= size_ && into.size() <= size_ - offset);
    for (size_t at = 0; at < into.size();) {
      const ssize_t n = ::pread(fd_, into.data() + at, into.size() - at, static_cast<off_t>(offset + at));
      if (n > 0) {
        at += static_cast<size_t>(n);
      } else if (n == 0) {
        return fail(ErrorCode::kIo, "{}: the file became shorter while it was read; nothing may write to it meanwhile",
                    path_);
      } else if (errno != EINTR) {
        return fail(ErrorCode::kIo, "{}: cannot read it at byte {}: {}", path_, offset + at, std::strerror(errno));
      }
    }
    return {};
  }

 private:
  std::string path_;
  uint64_t size_;
  int fd_ = -1;
};

}  // namespace

Result<std::unique_ptr<File>> open_file(const std::string& path, Access access) {
  TRY(MappedFile mapped, MappedFile::open(path));  // mapping is cheap and finds all errors
  if (access == Access::kResident) return std::make_unique<ResidentFile>(std::move(mapped));
  auto file = std::make_unique<PieceFile>(path, mapped.bytes().size());
  TRY_STATUS(file->open());
  return file;
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
