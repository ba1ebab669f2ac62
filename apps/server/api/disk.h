// Files that outlive the program, and power: whole, or not there at all.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tern/error.h"

namespace tern::server {

// "PATH: WHAT: why", of the last call to the system. kNotFound where there is nothing.
std::unexpected<Error> disk_error(const std::string& path, std::string_view what);

// A file to be written from its beginning, which exists under another name until keep().
class NewFile {
 public:
  // At PATH.part; what is there goes.
  static Result<NewFile> create(const std::string& path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();  // removes it, unless it has been kept

  Result<void> add(std::string_view bytes);
  Result<void> keep();  // all of it is on the disk, under its name, or nothing is
  uint64_t bytes() const { return bytes_; }

 private:
  NewFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string part() const { return path_ + ".part"; }

  std::string path_;
  int fd_;
  uint64_t bytes_ = 0;
};

Result<void> write_file(const std::string& path, std::string_view text);
Result<void> move_file(const std::string& from, const std::string& to);
Result<void> remove_file(const std::string& path);  // one that is not there is removed

Result<void> make_folder(const std::string& path);  // nobody else may look into a new one
// The names of its files, in no order.
Result<std::vector<std::string>> files_in(const std::string& folder);

// A file that one program has at a time, which stands for something else; the system lets go of it where one dies.
class FileLock {
 public:
  // kIo: it cannot be written or locked, or, where it does not wait, another program has it: `taken` says what that is.
  static Result<FileLock> take(const std::string& path, const std::string& taken);
  static Result<FileLock> wait_for(const std::string& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  static Result<FileLock> open(const std::string& path, mode_t mode);
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace tern::server
