#include "base/platform/unnamed_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace tern::platform {
namespace {

std::unexpected<std::error_code> error_now() {
  return std::unexpected(std::error_code(errno, std::generic_category()));
}

// Only by this path may users without privileges name such a file.
std::string path_of(intptr_t handle) { return "/proc/self/fd/" + std::to_string(handle); }

}  // namespace

SystemResult<DiskFile> make_unnamed_file(const std::string& folder, DiskFile::Readers readers) {
  const mode_t mode = readers == DiskFile::Readers::kUser ? 0600 : 0666;
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (fd < 0) return error_now();
  DiskFile file = DiskFile::of(fd);
  if (::access(path_of(fd).c_str(), F_OK) != 0) return error_now();  // no /proc: it could not get a name later
  return file;
}

SystemResult<void> name_file(const DiskFile& file, const std::string& path) {
  if (::linkat(AT_FDCWD, path_of(file.handle()).c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0)
    return error_now();
  return {};
}

}  // namespace tern::platform
