// A file that appears under its name only when it is complete.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/files/unfinished_files.h"
#include "base/platform/disk_file.h"

namespace tern {

// Until keep(), the bytes are in a file without a name, where the system and the file system have such: the kernel
// frees it whatever ends the process. Elsewhere they are in TARGET.PID-N.partial, which is locked while it is written,
// removed if the draft is dropped or a signal ends the program, and, after a kill that nothing can handle, by the next
// draft of the same target. Every draft has its own file, so of two writers of one target the later one's stays.
class DraftFile {
 public:
  struct Options {
    platform::DiskFile::Readers readers = platform::DiskFile::Readers::kAll;
    bool is_named = false;           // as if there were no files without a name
    bool removes_old_drafts = true;  // false: for many targets in one folder, which would be searched for each
  };

  // Follows symbolic links of the target.
  static platform::SystemResult<DraftFile> create(const std::string& target, const Options& options);
  static platform::SystemResult<DraftFile> create(const std::string& target) { return create(target, {}); }
  DraftFile(DraftFile&&) noexcept = default;
  DraftFile& operator=(DraftFile&&) = delete;
  ~DraftFile();

  platform::DiskFile& file() { return *file_; }

  // Renames what has been written to the target, over an old file. Sync the file before where a crash must not leave
  // the name without the bytes. Call it once.
  platform::SystemResult<void> keep();

 private:
  DraftFile(std::string target, platform::DiskFile file) : target_(std::move(target)), file_(std::move(file)) {}
  platform::SystemResult<void> give_name();

  std::string target_;
  std::optional<platform::DiskFile> file_;  // none once it is kept
  std::string partial_;                     // its name until it is kept; empty if it has none
  std::optional<UnfinishedFile> listed_;
};

// Writes a text to a file as a whole, or directly to a pipe or device.
platform::SystemResult<void> write_text_file(const std::string& path, std::string_view text);

}  // namespace tern
