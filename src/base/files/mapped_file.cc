#include "base/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tern {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd, bool owned = true) : fd_(fd), owned_(owned) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)), owned_(other.owned_) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0 && owned_) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
  bool owned_;
};

std::unexpected<Error> io_error(const std::string& path, const char* action) {
  const int error = errno;
  const ErrorCode code = error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return fail(code, "{}: cannot {} it: {}", path, action, std::strerror(error));
}

struct OpenFile {
  FileDescriptor fd;
  struct stat info;
};

// `flags`: in addition to O_RDONLY.
Result<OpenFile> open_for_reading(const std::string& path, int flags) {
  if (path == "-") return OpenFile{FileDescriptor(STDIN_FILENO, false), {}};
  OpenFile file{FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags)), {}};
  if (file.fd.get() < 0) return io_error(path, "open");
  if (::fstat(file.fd.get(), &file.info) != 0) return io_error(path, "read");
  if (S_ISDIR(file.info.st_mode)) return fail(ErrorCode::kIo, "{}: this is a directory; name a file", path);
  return file;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  TRY(OpenFile file, open_for_reading(path, O_NONBLOCK));  // do not wait for a pipe's writer
  if (!S_ISREG(file.info.st_mode)) return fail(ErrorCode::kIo, "{}: not a regular file, so it cannot be mapped", path);
  const auto size = static_cast<size_t>(file.info.st_size);
  if (size == 0) return fail(ErrorCode::kCorruption, "{}: the file is empty; download or write it again", path);
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd.get(), 0);
  if (at == MAP_FAILED) return io_error(path, "map");
  return MappedFile(path, Bytes(static_cast<const std::byte*>(at), size));
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::populate(const std::function<void(uint64_t, uint64_t)>& on_progress) const {
  constexpr size_t kStep = size_t{32} << 20;
  auto* start = const_cast<std::byte*>(bytes_.data());
#ifdef MADV_HUGEPAGE
  // Some file systems can then use pages of 2 MB. Weights stream through memory, so every page costs a lookup. Other
  // file systems ignore this.
  ::madvise(start, bytes_.size(), MADV_HUGEPAGE);
#endif
  for (size_t done = 0; done < bytes_.size();) {
    const size_t n = std::min(kStep, bytes_.size() - done);
#ifdef MADV_POPULATE_READ
    // Kernels before 5.14 lack it; pages are then loaded when they are touched.
    if (::madvise(start + done, n, MADV_POPULATE_READ) != 0) ::madvise(start + done, n, MADV_WILLNEED);
#else
    ::madvise(start + done, n, MADV_WILLNEED);
#endif
    done += n;
    on_progress(done, bytes_.size());
  }
}

Result<std::string> read_text_file(const std::string& path) {
  TRY(OpenFile file, open_for_reading(path, 0));
  std::string text;
  constexpr size_t kChunk = 1 << 16;
  for (;;) {
    const size_t old_size = text.size();
    text.resize(old_size + kChunk);
    const ssize_t n = ::read(file.fd.get(), text.data() + old_size, kChunk);
    text.resize(old_size + static_cast<size_t>(n > 0 ? n : 0));
    if (n == 0) return text;
    if (n < 0 && errno != EINTR) return io_error(path == "-" ? "standard input" : path, "read");
  }
}

}  // namespace tern
