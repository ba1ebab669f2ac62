// Files that survive crashes and loss of power: complete, or absent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files/draft_file.h"
#include "base/platform/disk_file.h"
#include "tern/error.h"

namespace tern::server {

// "PATH: WHAT: why". kNotFound: the file does not exist.
std::unexpected<Error> disk_error(const std::string& path, std::string_view what, std::error_code why);

// A new file, which has no name until keep(), and is gone if it is dropped before (see DraftFile).
class NewFile {
 public:
  static Result<NewFile> create(const std::string& path);
  NewFile(NewFile&& other) noexcept = default;
  NewFile& operator=(NewFile&&) = delete;

  Result<void> add(std::string_view bytes);
  Result<void> keep();  // puts all of it on the disk under its name, or nothing
  uint64_t bytes() const { return bytes_; }

 private:
  NewFile(std::string path, DraftFile draft) : path_(std::move(path)), draft_(std::move(draft)) {}

  std::string path_;
  DraftFile draft_;
  uint64_t bytes_ = 0;
};

Result<void> write_file(const std::string& path, std::string_view text);
Result<void> move_file(const std::string& from, const std::string& to);
Result<void> remove_file(const std::string& path);  // succeeds if it does not exist

Result<void> make_folder(const std::string& path);  // a new folder is private to the user
// The names of the folder's files, in no order.
Result<std::vector<std::string>> files_in(const std::string& folder);

// A lock file, held by one program at a time, that protects something else. The system releases it if the program dies.
class FileLock {
 public:
  // kIo: it cannot be written or locked, or, for take(), another program has it: then `taken` is the message.
  static Result<FileLock> take(const std::string& path, const std::string& taken);
  static Result<FileLock> wait_for(const std::string& path);

 private:
  explicit FileLock(platform::DiskFile file) : file_(std::move(file)) {}
  platform::DiskFile file_;
};

}  // namespace tern::server
