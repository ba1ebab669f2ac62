// The weight formats: one enum, and one table row per format with the facts that readers, writers, kernels, converters
// and messages need. Each layout is described in a file of its own in this folder.
//
// A format's `decode` defines what its bytes mean: every kernel of every backend is tested against it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "quant/coding.h"

namespace tern {

enum class Format : uint8_t {
  kF32,
  kF16,
  kBF16,
  kI2_S,
  kQ8_0,
  kQ6_K,
  kQ5_K,
  kQ5_1,
  kQ5_0,
  kQ4_K,
  kQ4_1,
  kQ4_0,
  kIQ4_NL,
  kIQ4_XS,
  kMXFP4,
  kQ3_K,
  kQ2_K,
  kQ2_0,
  kPQ2_0,
  kPTQ1_0,
  kQ1_0,
  kTQ1_0,
  kTQ2_0,
  kSTQ1_0,
};
inline constexpr int kFormatCount = static_cast<int>(Format::kSTQ1_0) + 1;

// A format's identity: in this code, for users, and in GGUF files.
struct FormatId {
  Format format;
  std::string_view name;  // "I2_S"
  uint32_t gguf_type;
};

struct FormatInfo : FormatId {
  int block = 1;             // values per block; a row must consist of whole blocks, unless fills_block
  bool fills_block = false;  // the last block of a row is padded (I2_S; in files its blocks run across rows)
  int block_bytes = 0;       // bytes per block
  int tail_bytes = 0;        // bytes after a tensor's last block (I2_S: its scale, padded to 32)
  bool is_ternary = false;   // codes −1, 0, +1 times a scale: BitNet-family models multiply it with int8 activations
  bool is_for_float_rows = false;  // may be used with float activations, embeddings and heads
  Coding coding = {};              // the parts of its blocks
  // Unpacks one block; nullptr if coding.n_codes is 0. Parts that the coding does not have are left unchanged. I2_S
  // gives the bare codes, with d = 1.
  void (*unpack)(const std::byte* block, BlockParts& parts) = nullptr;
  // Decodes whole blocks, or a row: values.size() is a multiple of `block`, unless fills_block. I2_S gives the bare
  // codes −1, 0, +1 (its scale is per tensor, see i2_s.h); every other format gives final values.
  void (*decode)(Bytes blocks, std::span<float> values) = nullptr;
  // Encodes what `decode` takes, like the reference quantizers or by a search (fit.h). I2_S takes values that are
  // already −1, 0 or +1. The other block formats turn NaN into 0; an infinity, or a scale beyond f16, spoils only its
  // own block.
  void (*encode)(std::span<const float> values, MutableBytes blocks) = nullptr;
  // Like `encode`, but minimizes Σ importance[i]·error² over each block; nullptr if the encoder cannot use importances.
  // There is one importance per value; none may be negative or NaN.
  void (*encode_weighted)(std::span<const float> values, std::span<const float> importance,
                          MutableBytes blocks) = nullptr;
};

const FormatInfo& format_info(Format format);

// All formats, in the order of the enum.
std::span<const FormatInfo> formats();

// The formats for matrices multiplied with int8 rows, and those for float rows.
std::span<const Format> ternary_row_formats();
std::span<const Format> float_row_formats();

// Bytes of a [rows, cols] tensor, including its tail, and of one row. cols must be a multiple of the block, unless the
// format fills_block (check cols first if it comes from a file). A product beyond 64 bits gives UINT64_MAX, so that a
// hostile shape fails the caller's size check.
uint64_t tensor_bytes(Format format, int64_t rows, int64_t cols);
uint64_t row_bytes(Format format, int64_t cols);

// Compares names of formats.
bool equal_ignoring_case(std::string_view a, std::string_view b);
// Finds a format by its name in any case ("i2_s"); nullptr if there is none.
const FormatInfo* find_format(std::string_view name);

}  // namespace tern
