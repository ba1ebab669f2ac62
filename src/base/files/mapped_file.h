// A whole file as read-only memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace tern {

class MappedFile {
 public:
  // Maps `path`. Errors: kNotFound; kIo: it cannot be read or is a directory; kCorruption: it is empty.
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  // Loads the whole file into memory, so that later reads neither wait for the disk nor fault. Reports progress.
  void populate(const std::function<void(uint64_t done, uint64_t total)>& on_progress) const;

  Bytes bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

 private:
  MappedFile(std::string path, Bytes bytes) : path_(std::move(path)), bytes_(bytes) {}

  std::string path_;
  Bytes bytes_;
};

// Reads all of `path` ("-" is standard input) into a string. Errors: those of MappedFile::open, but an empty file is
// fine.
Result<std::string> read_text_file(const std::string& path);

}  // namespace tern
