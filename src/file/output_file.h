// A file that is written from beginning to end through a buffer.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/platform/disk_file.h"
#include "base/result.h"

namespace tern {

// A regular file appears under its name only when it is complete and on disk. Until then its bytes are in
// PATH.PID-N.partial beside it, which is deleted if writing fails or is abandoned. Every writer has its own, so two
// writers of one path each make a complete file, and the later one stays. Pipes, devices and "-" (standard output) are
// written directly.
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

  std::string path_;
  std::string target_;   // what finish() renames to: PATH with symbolic links followed
  std::string partial_;  // empty if the bytes are written to the path directly
  std::optional<platform::DiskFile> file_;
  std::vector<std::byte> buffer_;
  std::optional<Error> error_;
};

}  // namespace tern
