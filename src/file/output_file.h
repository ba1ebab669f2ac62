// A file that is written from beginning to end through a buffer.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/files/draft_file.h"
#include "base/platform/disk_file.h"
#include "base/result.h"

namespace tern {

// A regular file appears under its name only when it is complete and on disk; until then it is a DraftFile. Pipes,
// devices and "-" (standard output) are written directly.
class OutputFile {
 public:
  // All calls may return kIo, with the path and the reason. After an error every further call returns it again.
  static Result<OutputFile> create(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // without finish(): abandons the file

  const std::string& path() const { return path_; }  // for messages: "standard output" for "-"

  Result<void> write(Bytes bytes);
  Result<void> finish();

 private:
  OutputFile() = default;
  Result<void> write_through(Bytes bytes);
  std::unexpected<Error> give_up(std::error_code error, const char* action);
  void discard();

  platform::DiskFile& file() { return draft_ ? draft_->file() : *direct_; }

  std::string path_;
  // One of these, until finish() or an error.
  std::optional<DraftFile> draft_;
  std::optional<platform::DiskFile> direct_;
  std::vector<std::byte> buffer_;
  std::optional<Error> error_;
};

}  // namespace tern
