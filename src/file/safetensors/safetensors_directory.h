// The weights of a Hugging Face directory: model.safetensors, or the shards that model.safetensors.index.json lists.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/files/folder.h"
#include "file/safetensors/safetensors.h"

namespace tern {

class SafetensorsDirectory {
 public:
  // Errors: those of SafetensorsFile::open; kNotFound: the directory has neither of the two files, or lacks a shard;
  // kCorruption: index and shards do not match, as with files of two revisions.
  static Result<SafetensorsDirectory> open(const Folder& folder, Access access = Access::kResident);
  static Result<SafetensorsDirectory> open(const std::string& directory, Access access = Access::kResident) {
    return open(DiskFolder(directory), access);
  }

  const std::string& path() const { return path_; }
  std::span<const SafetensorsFile> files() const { return files_; }
  uint64_t file_bytes() const;  // of all files

  // All tensors, file by file, in the order of their data. Valid as long as this object lives, even after a move.
  std::vector<const SafetensorsTensor*> tensors() const;
  const SafetensorsTensor* find(std::string_view name) const;

  // Loads all files into memory ahead of use (base/files/mapped_file.h).
  void populate(const std::function<void(uint64_t done, uint64_t total)>& on_progress) const;

 private:
  SafetensorsDirectory() = default;

  std::string path_;
  std::vector<SafetensorsFile> files_;
};

// Parses the files that a model.safetensors.index.json names, each with its tensors. For SafetensorsDirectory and
// fuzzing. kCorruption: an invalid index, or a name that is not a plain file name.
using ShardTensors = std::unordered_map<std::string, std::vector<std::string>>;
Result<ShardTensors> parse_safetensors_index(std::string_view text, std::string_view path);

}  // namespace tern
