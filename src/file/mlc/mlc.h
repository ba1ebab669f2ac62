// MLC directories (docs/formats.md): an index (tensor-cache.json, or ndarray-cache.json, its older name) lists the
// tensors in raw shards, params_shard_N.bin, and the MD5 of every shard.
//
// Source: mlc-ai/mlc-llm and apache/tvm, tvm/contrib/tvmjs.py (dump_tensor_cache).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/files/folder.h"
#include "base/result.h"

namespace tern {

struct MlcTensor {
  std::string name;
  std::string dtype;   // as in the index: "uint32"; may be unknown to Tern
  std::string format;  // "raw", or "f32-to-bf16": float32 values are then stored as their upper 16 bits
  std::vector<int64_t> shape;
  size_t shard = 0;     // index of its file
  uint64_t offset = 0;  // of the first byte in the shard
  uint64_t bytes = 0;
  StoredBytes data;  // a view into the shard, of `bytes` bytes; empty in a parsed index
};

struct MlcShard {
  std::string file;  // name in the directory
  uint64_t bytes = 0;
  std::string md5;  // 32 lower-case hexadecimal digits
};

struct MlcIndex {
  std::vector<MlcShard> shards;
  std::vector<MlcTensor> tensors;  // shard by shard, in the order of their data
};

// Checks everything that does not need the shards. kCorruption: invalid; the message names the path.
Result<MlcIndex> parse_mlc_index(std::string_view text, std::string_view path);

// How MlcDirectory::open checks shards.
struct MlcCheck {
  // Folder of the stamps that remember checked shards: a small file per model directory, invalid once a shard's size or
  // times change. Empty: no stamps, so shards are checked each time.
  std::string stamp_folder = {};
  int n_threads = 1;
  // Called on the calling thread while shards are read.
  std::function<void(uint64_t done, uint64_t total)> on_progress = {};
};

class MlcDirectory {
 public:
  // Checks every shard's size and MD5 before use: an index and shards of different revisions have the same names and
  // would give garbage. In a folder without weights, only sizes are checked. kNotFound: the index or a shard is
  // missing; kCorruption: invalid, or a mismatch.
  static Result<MlcDirectory> open(const Folder& folder, const MlcCheck& check, Access access = Access::kResident);
  static Result<MlcDirectory> open(const std::string& directory, const MlcCheck& check,
                                   Access access = Access::kResident) {
    return open(DiskFolder(directory), check, access);
  }

  const std::string& path() const { return path_; }
  const std::string& index_path() const { return index_path_; }
  uint64_t file_bytes() const;  // of all shards
  std::span<const MlcShard> shards() const { return index_.shards; }
  std::span<const MlcTensor> tensors() const { return index_.tensors; }
  const MlcTensor* find(std::string_view name) const;
  // True if this call computed the sums instead of relying on an earlier check.
  bool computed_sums() const { return computed_sums_; }

 private:
  MlcDirectory() = default;
  Result<void> open_shards(const Folder& folder, Access access);
  Result<void> check_shards(const MlcCheck& check);
  Result<void> compare_sums(const MlcCheck& check) const;

  std::string path_;
  std::string index_path_;
  MlcIndex index_;
  std::vector<std::unique_ptr<File>> files_;  // one per shard
  std::vector<size_t> by_name_;               // into index_.tensors, sorted by name
  bool computed_sums_ = false;
};

// True if the directory has an MLC index.
bool is_mlc_directory(const Folder& folder);
bool is_mlc_directory(const std::string& directory);

}  // namespace tern
