// The weight formats: one enum, one table row per format, from which readers, writers, kernels, converters and messages
// take what they say about it. The layouts themselves are one file per format beside this.
//
// `decode` of each format is the truth about its bytes: every kernel of every backend is tested against it.
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
  kQ3_K,
  kQ2_K,
  kQ2_0,
  kPQ2_0,
  kPTQ1_0,
  kQ1_0,
  kTQ1_0,
  kTQ2_0,
};
inline constexpr int kFormatCount = static_cast<int>(Format::kTQ2_0) + 1;

// What a format is called: here, by users, and in GGUF files.
struct FormatId {
  Format format;
  std::string_view name;  // "I2_S"
  uint32_t gguf_type;
};

struct FormatInfo : FormatId {
  int block = 1;             // values per block; rows must be whole blocks, or
  bool fills_block = false;  // the last block of a row is filled up (I2_S; in files its blocks run across rows)
  int block_bytes = 0;       // bytes per block
  int tail_bytes = 0;        // bytes after a tensor's last block (I2_S: its scale, padded to 32)
  bool is_ternary = false;   // codes −1, 0, +1 times a scale: computed on int8 activations by BitNet-family models
  bool is_for_float_rows = false;  // the same for layers on float activations, embeddings and heads
  Coding coding = {};              // what its blocks come apart into
  // Takes one block apart; nullptr where coding.n_codes is 0. Parts that the coding has not are left as they are. I2_S
  // gives the bare codes, with d = 1.
  void (*unpack)(const std::byte* block, BlockParts& parts) = nullptr;
  // Decodes whole blocks, or a row: values.size() is a multiple of `block`, or fills_block. I2_S gives the bare codes
  // −1, 0, +1 (its scale is per tensor, see i2_s.h); every other format gives final values.
  void (*decode)(Bytes blocks, std::span<float> values) = nullptr;
  // Encodes the same, the way the reference quantisers do, or by a search (fit.h). I2_S takes values that are
  // already −1, 0 or +1. Elsewhere NaN becomes 0 in the block formats; an infinity, or a scale beyond f16, spoils its
  // own block only.
  void (*encode)(std::span<const float> values, MutableBytes blocks) = nullptr;
  // The same so that Σ importance[i]·error² over a block is small; nullptr where the encoder has no use for that. None
  // of the importances, one for each value, is negative or NaN.
  void (*encode_weighted)(std::span<const float> values, std::span<const float> importance,
                          MutableBytes blocks) = nullptr;
};

const FormatInfo& format_info(Format format);

// All of them, in the order of the enum.
std::span<const FormatInfo> formats();

// Those that int8 rows may meet, and that float rows may.
std::span<const Format> ternary_row_formats();
std::span<const Format> float_row_formats();

// Bytes of a [rows, cols] tensor, tail included, and of one row. cols is a multiple of the block, unless the format
// fills_block (check it first where it comes from a file). A product beyond 64 bits gives UINT64_MAX, so that a hostile
// shape fails the caller's size check.
uint64_t tensor_bytes(Format format, int64_t rows, int64_t cols);
uint64_t row_bytes(Format format, int64_t cols);

// As names of formats are compared.
bool equal_ignoring_case(std::string_view a, std::string_view b);
// By lower- or upper-case name, "i2_s"; nullptr if there is none.
const FormatInfo* find_format(std::string_view name);

}  // namespace tern
