// Compiled pipelines kept in files between runs: one file per blob, named by the hash of its key.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <vector>

#include "base/bytes.h"

namespace tern::gpu {

// A cache may lose everything at any time, so nothing here fails: a file that is missing, cut short, changed or of
// another key is a miss, and what cannot be written is not kept. Any thread may call.
class BlobCache {
 public:
  // Makes the folder if it is not there.
  explicit BlobCache(std::filesystem::path folder);

  // The blob's size, or 0 where there is none. Copies it if `out` has room for it.
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
