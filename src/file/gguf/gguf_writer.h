// Writes GGUF v3: metadata and tensor list first, then the tensors' data as a stream that is never in memory as a
// whole.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "file/gguf/gguf.h"
#include "file/output_file.h"

namespace tern {

// Call order: add_* and add_tensor in any mix, begin(), append() until every tensor has its bytes, finish(). The file
// appears under its name at finish(). Without finish() nothing is left (see OutputFile).
class GgufWriter {
 public:
  // Does not open the file yet. `alignment` of tensor data: a power of two of at least 8.
  explicit GgufWriter(std::string path, uint32_t alignment = 32);

  void add_u8(std::string_view key, uint8_t value);
  void add_i8(std::string_view key, int8_t value);
  void add_u16(std::string_view key, uint16_t value);
  void add_i16(std::string_view key, int16_t value);
  void add_u32(std::string_view key, uint32_t value);
  void add_i32(std::string_view key, int32_t value);
  void add_u64(std::string_view key, uint64_t value);
  void add_i64(std::string_view key, int64_t value);
  void add_f32(std::string_view key, float value);
  void add_f64(std::string_view key, double value);
  void add_bool(std::string_view key, bool value);
  void add_string(std::string_view key, std::string_view value);
  void add_u32s(std::string_view key, std::span<const uint32_t> values);
  void add_i32s(std::string_view key, std::span<const int32_t> values);
  void add_f32s(std::string_view key, std::span<const float> values);
  void add_strings(std::string_view key, std::span<const std::string_view> values);
  // Adds a value of any kind, as read from another file. Skips `general.alignment`: the writer sets its own.
  void add(std::string_view key, const GgufValue& value);

  // Declares the next tensor; `shape` has its rows first. kInvalidArgument: an empty, too long or duplicate name, a
  // shape other than 1 to 4 dimensions of at least 1, or rows that are not whole blocks of the type.
  Result<void> add_tensor(std::string_view name, GgmlType type, std::span<const int64_t> shape);

  // Creates the file and writes everything but the data. kInvalidArgument: a key was added twice; kIo: writing failed.
  Result<void> begin();

  // Writes the next bytes of the tensors' data, in the order of declaration. They may be part of a tensor, but must not
  // extend past its end. The writer adds padding. kIo: writing failed; kInvalidArgument: bytes past the tensor's end.
  Result<void> append(Bytes data);

  // kInvalidArgument: tensors lack bytes; kIo: writing failed.
  Result<void> finish();

 private:
  struct Tensor {
    std::string name;
    GgmlType type;
    std::vector<int64_t> shape;  // rows first
    uint64_t bytes = 0;
  };

  template <class T>
  void add_scalar(std::string_view key, GgufKind kind, T value);
  void add_key(std::string_view key, GgufKind kind);
  void add_array_head(std::string_view key, GgufKind element, uint64_t count);
  Result<void> write_padding(uint64_t written);

  std::string path_;
  uint32_t alignment_;
  uint64_t n_metadata_ = 0;
  std::string metadata_;  // the entries as written to the file
  std::unordered_set<std::string> keys_;
  std::string doubled_key_;  // the first key that was added twice
  std::vector<Tensor> tensors_;
  std::unordered_set<std::string> tensor_names_;
  std::optional<OutputFile> file_;
  size_t current_ = 0;          // the tensor to which the next bytes belong
  uint64_t current_bytes_ = 0;  // number of its bytes written
};

}  // namespace tern
