// Files as the rest of Tern sees them: opened by path, in memory or read piece by piece. file.cc maps them; where there
// is no file system to map from, another implementation of this header takes its place.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"

namespace tern {

// What is wanted of a file's bytes.
enum class Access {
  kResident,  // all of them lie in memory
  kPieces,    // they can be read; on the host only as much as is being read lies in memory
};

class File : public ByteSource {
 public:
  virtual const std::string& path() const = 0;
  const File* file() const final { return this; }

  // Brings a resident file into memory, so that later reads neither wait for the disk nor fault. Tells how far it is.
  // Else does nothing.
  virtual void populate([[maybe_unused]] const std::function<void(uint64_t done, uint64_t total)>& on_progress) const {}
};

// Errors: kNotFound; kIo where it cannot be read or is a directory; kCorruption where it is empty.
Result<std::unique_ptr<File>> open_file(const std::string& path, Access access = Access::kResident);

// Whether a resident file takes no memory of its own, because it is mapped: then nothing is saved by reading pieces.
bool maps_files();

bool is_file(const std::string& path);
bool is_directory(const std::string& path);
// The names in it, in any order; none where it cannot be read.
std::vector<std::string> list_directory(const std::string& path);

}  // namespace tern
