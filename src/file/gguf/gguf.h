// GGUF v2 and v3 (docs/formats.md): metadata and tensors of a model file, fully checked before use.
//
// All strings, arrays and tensor data are views into the file and live as long as the GgufFile. If a file is read in
// pieces, everything before the first tensor's data is in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/files/file.h"
#include "base/result.h"

namespace tern {

// Tensor types by their number in the file. Only types of a format (quant/format.h) have a known size; others are
// rejected. The enum lists those that code or tests refer to by name.
enum class GgmlType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ8_0 = 8,
  kQ6_K = 14,
  kBF16 = 30,
  kTQ1_0 = 34,
  kTQ2_0 = 35,
  kI2_S = 36,
  kQ1_0 = 41,
  kQ2_0 = 42,    // groups of 64; see kPQ2_0
  kPQ2_0 = 142,  // groups of 128; some files call this 42 too
  kPTQ1_0 = 143,
  kSTQ1_0 = 43,  // the first files call this 42 too
};

struct GgmlTypeInfo {
  GgmlType type;
  std::string_view name;  // "I2_S"
  uint32_t block;         // values per block
  uint32_t block_bytes;   // bytes per block
  uint32_t tail_bytes;    // bytes after the last block of a tensor (I2_S: its scale and padding)
  bool is_flat;           // only the tensor must be whole blocks, not its rows (I2_S)
};

// All types that Tern can read, by number.
std::span<const GgmlTypeInfo> ggml_types();

// The entry for `type`, or nullptr for a type that Tern cannot read.
const GgmlTypeInfo* ggml_type_info(GgmlType type);

// The name that other programs use for a type that Tern cannot read ("IQ4_XS"); empty for unknown numbers.
std::string_view unreadable_type_name(uint32_t number);

// Bytes of a tensor of this type and shape (rows first), including its tail. nullopt if it cannot exist: an unreadable
// type, a shape without dimensions or with one below 1, rows (for flat types: the tensor) that are not whole blocks, or
// more than 2^63 − 1 bytes.
std::optional<uint64_t> ggml_tensor_bytes(GgmlType type, std::span<const int64_t> shape);

struct GgufTensor {
  std::string_view name;
  GgmlType type;
  std::vector<int64_t> shape;  // rows first, as in PyTorch: [n_out, n_in]; the file stores it reversed
  size_t part = 0;             // the file that contains it, if the model is split
  uint64_t offset = 0;         // of the first byte in that file
  StoredBytes data;            // exactly the bytes that type and shape need; aligned to 8 or more in the file
  uint64_t span = 0;           // bytes up to the next tensor or the file's end; tells layouts that share an id apart

  int64_t n_elements() const;
};

enum class GgufKind : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

// "u32", "string"; "unknown" for a number outside the enum.
std::string_view gguf_kind_name(GgufKind kind);

// Bytes of one value; 0 for strings, arrays and numbers outside the enum.
uint32_t gguf_kind_bytes(GgufKind kind);

struct GgufValue {
  GgufKind kind;  // for an array: of its elements
  bool is_array = false;
  uint64_t count = 1;        // elements of an array
  Bytes data;                // scalar: its bytes; string: its characters; array: the elements as in the file
  bool is_override = false;  // set by GgufFile::override_value
};

class GgufCursor;
struct GgufOverride;

class GgufFile {
 public:
  // Opens a file. If it is any part of a split model (MODEL-00001-of-00003.gguf), opens all parts beside it. Errors:
  // those of open_file; kCorruption: the file violates the format or ends early, or parts do not match; kNotSupported:
  // other containers and versions, and tensor types that Tern cannot read.
  static Result<GgufFile> open(const std::string& path, Access access = Access::kResident);
  // Reads all parts of a model, in order. Only the bytes before the tensors' data are read. Errors: those of reading,
  // and of open().
  static Result<GgufFile> read(std::vector<std::unique_ptr<File>> parts);
  // For tests and fuzzing: one file that is not part of a split model. `name`: the path in messages; `bytes` must
  // outlive the result.
  static Result<GgufFile> parse(Bytes bytes, const std::string& name);

  const std::string& path() const { return path_; }  // of the first part
  uint32_t version() const { return version_; }
  size_t n_parts() const { return n_parts_; }
  uint64_t file_bytes() const { return file_bytes_; }  // of all parts

  // Loads all parts into memory ahead of use (base/files/mapped_file.h).
  void populate(const std::function<void(uint64_t done, uint64_t total)>& on_progress) const;

  std::span<const GgufTensor> tensors() const { return tensors_; }
  const GgufTensor* find_tensor(std::string_view name) const;

  std::span<const std::pair<std::string_view, GgufValue>> metadata() const { return metadata_; }
  const GgufValue* find(std::string_view key) const;
  // Sets the key to this value from now on, even if the file does not have the key.
  void override_value(GgufOverride value);

  // Typed look-ups. An absent key gives std::nullopt. kCorruption: another type, or out of range; the message names the
  // key. kInvalidArgument: an override has another type.
  Result<std::optional<std::string_view>> get_string(std::string_view key) const;
  Result<std::optional<int64_t>> get_int(std::string_view key) const;   // any integer kind or bool
  Result<std::optional<double>> get_float(std::string_view key) const;  // any float or integer kind
  Result<std::optional<bool>> get_bool(std::string_view key) const;
  Result<std::optional<std::vector<std::string_view>>> get_strings(std::string_view key) const;
  Result<std::optional<std::vector<int64_t>>> get_ints(std::string_view key) const;
  Result<std::optional<std::vector<float>>> get_floats(std::string_view key) const;

 private:
  GgufFile() = default;
  static Result<GgufFile> open_part(const std::string& path, Access access);
  static Result<GgufFile> open_in_pieces(std::unique_ptr<File> file);
  static Result<GgufFile> parse_part(GgufCursor& cursor);
  static Result<GgufFile> open_split(GgufFile named, int64_t n_parts, Access access);
  Result<void> append(GgufFile part);

  std::string path_;
  size_t n_parts_ = 1;
  uint64_t file_bytes_ = 0;
  std::vector<std::unique_ptr<File>> files_;        // one per part; empty for parsed bytes
  std::vector<std::vector<std::byte>> beginnings_;  // of parts that are read in pieces; strings point into them
  Bytes bytes_;                                     // the first part, or its beginning; contains the metadata
  uint32_t version_ = 0;
  std::vector<std::pair<std::string_view, GgufValue>> metadata_;
  std::vector<GgufTensor> tensors_;
  std::unordered_map<std::string_view, size_t> metadata_index_;  // into metadata_
  std::unordered_map<std::string_view, size_t> tensor_index_;    // into tensors_
  std::vector<std::shared_ptr<const GgufOverride>> overrides_;   // values in metadata_ may point into them
};

}  // namespace tern
