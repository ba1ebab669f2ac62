// Files that survive crashes and loss of power: complete, or absent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/platform/disk_file.h"
#include "tern/error.h"

namespace tern::server {

// "PATH: WHAT: why". kNotFound: the file does not exist.
std::unexpected<Error> disk_error(const std::string& path, std::string_view what, std::error_code why);

// A new file, which has another name until keep().
class NewFile {
 public:
  // Creates PATH.part, replacing an old one.
  static Result<NewFile> create(const std::string& path);
  NewFile(NewFile&& other) noexcept = default;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();  // removes it, unless it has been kept

  Result<void> add(std::string_view bytes);
  Result<void> keep();  // puts all of it on the disk under its name, or nothing
  uint64_t bytes() const { return bytes_; }

 private:
  NewFile(std::string path, platform::DiskFile file)
      : path_(std::move(path)), file_(std::make_unique<platform::DiskFile>(std::move(file))) {}
  std::string part() const { return path_ + ".part"; }

  std::string path_;
  std::unique_ptr<platform::DiskFile> file_;  // null once it is kept
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
