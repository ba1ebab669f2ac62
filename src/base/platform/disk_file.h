// A file of the operating system: opened by path, read and written at any position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace tern::platform {

// What a system call returns: a value, or the system's own error. Compare it with std::errc.
template <class T>
using SystemResult = std::expected<T, std::error_code>;

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

enum class FileKind { kRegular, kDirectory, kOther };

struct FileInfo {
  FileKind kind = FileKind::kOther;
  uint64_t size = 0;
  int64_t written_ns = 0;     // since 1970
  int64_t changed_ns = 0;     // since 1970; programs that copy files cannot set it, unlike the time of writing
  uint64_t id = 0;            // on its disk
  uint64_t n_names = 0;       // links to it
  uint64_t stored_bytes = 0;  // on the disk: fewer than the size, if the file has holes
};

class DiskFile {
 public:
  enum class Mode {
    kRead,
    kReadAtOnce,  // opening a pipe does not wait for its writer
    kReadNoLink,  // likewise; and a symbolic link is an error
    kWrite,       // an existing file, pipe or device
    kCreateNew,   // fails if the file exists
    kReplace,     // writes; an old file becomes empty
    kReadWrite,   // creates the file where there is none
  };
  enum class Readers { kAll, kUser };  // those of a new file, as far as the user's settings allow
  // Other programs may meanwhile read, write, rename and delete the file. Child processes do not inherit it.
  static SystemResult<DiskFile> open(const std::string& path, Mode mode, Readers readers = Readers::kAll);
  // Takes over an open descriptor or HANDLE.
  static DiskFile of(intptr_t handle) { return DiskFile(handle, true); }
  // The process's own streams, which are not closed.
  static DiskFile standard_input();
  static DiskFile standard_output();

  DiskFile(DiskFile&& other) noexcept
      : handle_(std::exchange(other.handle_, kNone)), is_owned_(std::exchange(other.is_owned_, false)) {}
  DiskFile& operator=(DiskFile&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(is_owned_, other.is_owned_);
    return *this;
  }
  ~DiskFile();

  SystemResult<FileInfo> info() const;
  // 0 at the end of the file.
  SystemResult<size_t> read_some(MutableBytes into) const;
  SystemResult<size_t> read_some_at(uint64_t offset, MutableBytes into) const;
  // Writes all bytes. A pipe without a reader is std::errc::broken_pipe, and no signal.
  SystemResult<void> write(Bytes bytes);
  SystemResult<void> write_at(uint64_t offset, Bytes bytes);
  SystemResult<void> resize(uint64_t bytes);
  // Returns when all bytes are on disk. A file system that knows no such thing is no error.
  SystemResult<void> sync();
  // Some file systems report a full disk or quota only here.
  SystemResult<void> close();

  intptr_t handle() const { return handle_; }  // a descriptor, or a HANDLE

 private:
  static constexpr intptr_t kNone = -1;
  DiskFile(intptr_t handle, bool is_owned) : handle_(handle), is_owned_(is_owned) {}

  intptr_t handle_;
  bool is_owned_;
};

// True if the disk, or what the user may have of it, is full.
bool is_disk_full(std::error_code error);

SystemResult<FileInfo> file_info(const std::string& path);

// Locks a file for this open file alone, until it is closed or the process ends. Reading and writing go on as before.
SystemResult<void> lock_file(const DiskFile& file);      // waits
SystemResult<bool> try_lock_file(const DiskFile& file);  // false: another one has it

// Gives a file another name, if there is no file of that name.
SystemResult<void> link_file(const std::string& from, const std::string& to);
// Sets the time of writing to now.
SystemResult<void> touch_file(const std::string& path);
// Makes the creation or removal of a name in the folder survive a loss of power.
SystemResult<void> sync_folder(const std::string& path);

// Removes a file as signal handlers may.
void remove_file_at_end(const char* path) noexcept;

// Renames a file, over another one where there is one.
SystemResult<void> replace_file(const std::string& from, const std::string& to);

}  // namespace tern::platform
