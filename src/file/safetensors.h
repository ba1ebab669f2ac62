// safetensors, one file (docs/formats.md): a u64 length, a JSON header of that many bytes with every tensor's dtype,
// shape and place, then the data. Checked completely before anything is used.
//
// Source: huggingface/safetensors, README.md ("Format").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/mapped_file.h"
#include "base/result.h"

namespace tern {

struct SafetensorsTensor {
  std::string name;
  std::string dtype;           // as in the file: "BF16"; may be one that Tern does not know
  std::vector<int64_t> shape;  // rows first; empty for a single value
  uint64_t offset = 0;         // of the first byte in its file
  Bytes data;                  // a view into the file; need not be aligned

  int64_t n_elements() const;
};

// Bits of one value of a dtype; 0 for one that Tern does not know.
uint32_t safetensors_bits(std::string_view dtype);

class SafetensorsFile {
 public:
  // Errors: those of MappedFile::open; kCorruption where the bytes contradict the format or end early; kNotSupported
  // for a header of more than 16 MiB.
  static Result<SafetensorsFile> open(const std::string& path);
  // For tests and fuzzing. `name` stands for the path in messages; `bytes` must outlive the result.
  static Result<SafetensorsFile> parse(Bytes bytes, std::string name);

  const std::string& path() const { return path_; }
  uint64_t file_bytes() const { return bytes_.size(); }
  const MappedFile* mapped() const { return file_ ? &*file_ : nullptr; }

  std::span<const SafetensorsTensor> tensors() const { return tensors_; }  // in the order of their data
  const SafetensorsTensor* find(std::string_view name) const;
  std::span<const std::pair<std::string, std::string>> metadata() const { return metadata_; }

 private:
  SafetensorsFile() = default;

  std::string path_;
  std::optional<MappedFile> file_;
  Bytes bytes_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<SafetensorsTensor> tensors_;
  std::vector<size_t> by_name_;  // into tensors_, sorted by name
};

}  // namespace tern
