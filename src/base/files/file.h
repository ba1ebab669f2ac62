// Files for the rest of Tern: opened by path, in memory or read piece by piece. file.cc maps them. Builds without a
// file system have another implementation of this header.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/files/byte_source.h"
#include "base/result.h"

namespace tern {

// How a file's bytes will be used.
enum class Access {
  kResident,  // all of them are in memory
  kPieces,    // they can be read; on the host only the piece being read is in memory
};

class File : public ByteSource {
 public:
  virtual const std::string& path() const = 0;
  const File* file() const final { return this; }

  // Loads a resident file into memory, so that later reads neither wait for the disk nor fault. Reports progress. Does
  // nothing for other files.
  virtual void populate([[maybe_unused]] const std::function<void(uint64_t done, uint64_t total)>& on_progress) const {}
};

// Errors: kNotFound; kIo: it cannot be read or is a directory; kCorruption: it is empty.
Result<std::unique_ptr<File>> open_file(const std::string& path, Access access = Access::kResident);

// True if a resident file is mapped and takes no memory of its own. Reading in pieces then saves nothing.
bool maps_files();

bool is_file(const std::string& path);
bool is_directory(const std::string& path);
// The names in the directory, in any order; empty if it cannot be read.
std::vector<std::string> list_directory(const std::string& path);

}  // namespace tern
