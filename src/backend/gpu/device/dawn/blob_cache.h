// Compiled pipelines kept in files between runs: one file per blob, named by the hash of its key.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <vector>

#include "base/bytes.h"

namespace tern::gpu {

// The cache may lose everything at any time, so nothing here fails: a file that is missing, truncated, changed or of
// another key is a miss, and a blob that cannot be written is dropped. Thread-safe.
class BlobCache {
 public:
  // Creates the folder if it does not exist.
  explicit BlobCache(std::filesystem::path folder);

  // Returns the blob's size, or 0 if there is none. Copies the blob if it fits in `out`.
  size_t load(Bytes key, MutableBytes out) noexcept;

  void store(Bytes key, Bytes blob) noexcept;

  int hits() const { return hits_; }
  int misses() const { return misses_; }

 private:
  std::filesystem::path file_of(Bytes key) const;

  std::filesystem::path folder_;
  std::atomic<int> hits_ = 0, misses_ = 0;
};

}  // namespace tern::gpu
