// One safetensors file (docs/formats.md): a u64 length, a JSON header of that many bytes with every tensor's dtype,
// shape and position, then the data. Everything is checked before use.
//
// Source: huggingface/safetensors, README.md ("Format").
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/files/file.h"
#include "base/result.h"

namespace tern {

struct SafetensorsTensor {
  std::string name;
  std::string dtype;           // as in the file: "BF16"; may be unknown to Tern
  std::vector<int64_t> shape;  // rows first; empty for a single value
  uint64_t offset = 0;         // of the first byte in its file
  StoredBytes data;            // a view into the file; need not be aligned

  int64_t n_elements() const;
};

// Bits per value of a dtype; 0 for one that Tern does not know.
uint32_t safetensors_bits(std::string_view dtype);

class SafetensorsFile {
 public:
  // Errors: those of open_file; kCorruption: the file violates the format or ends early; kNotSupported: a header of
  // more than 16 MiB.
  static Result<SafetensorsFile> open(const std::string& path, Access access = Access::kResident);
  // Reads a file that is already open.
  static Result<SafetensorsFile> read(std::unique_ptr<File> file);
  // For tests and fuzzing. `name`: the path in messages; `bytes` must outlive the result.
  static Result<SafetensorsFile> parse(Bytes bytes, std::string name);

  const std::string& path() const { return path_; }
  uint64_t file_bytes() const { return file_bytes_; }
  const File* file() const { return file_.get(); }  // null for parsed bytes

  std::span<const SafetensorsTensor> tensors() const { return tensors_; }  // in the order of their data
  const SafetensorsTensor* find(std::string_view name) const;
  std::span<const std::pair<std::string, std::string>> metadata() const { return metadata_; }

 private:
  SafetensorsFile() = default;
  static Result<SafetensorsFile> open_in_pieces(std::unique_ptr<File> opened);
  // `begin` contains the header, as far as the file has it. Data is a view of `in_file`, or of `begin` if that is null.
  static Result<SafetensorsFile> parse_header(Bytes begin, const File* in_file, std::string name);

  std::string path_;
  std::unique_ptr<File> file_;
  uint64_t file_bytes_ = 0;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<SafetensorsTensor> tensors_;
  std::vector<size_t> by_name_;  // into tensors_, sorted by name
};

}  // namespace tern
