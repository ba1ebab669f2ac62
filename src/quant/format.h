// The weight formats: one enum, one table row per format. The layouts themselves are one file per format beside this.
//
// `decode` of each format is the truth about its bytes: every kernel of every backend is tested against it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"

namespace tern {

enum class Format : uint8_t {
  kF32,
  kF16,
  kBF16,
  kQ8_0,
  kQ4_0,
  kQ6_K,
  kI2_S,
  kTQ1_0,
  kTQ2_0,
  kQ1_0,
  kQ2_0,
  kPQ2_0,
};
inline constexpr int kFormatCount = 12;

struct FormatInfo {
  Format format;
  std::string_view name;  // "I2_S"
  int block;              // values per block; rows must be whole blocks
  int block_bytes;        // bytes per block
  int tail_bytes;         // bytes after a tensor's last block (I2_S: its scale, padded to 32)
  bool is_ternary;        // codes −1, 0, +1 times a scale: computed on int8 activations by BitNet-family models
  // Decodes whole blocks: values.size() is a multiple of `block`. I2_S gives the bare codes −1, 0, +1 (its scale is per
  // tensor, see i2_s.h); every other format gives final values.
  void (*decode)(Bytes blocks, std::span<float> values);
  // Encodes whole blocks, the way the reference quantisers do. I2_S takes values that are already −1, 0 or +1.
  // Elsewhere NaN becomes 0 in the block formats; an infinity, or a scale beyond f16, spoils its own block only.
  void (*encode)(std::span<const float> values, MutableBytes blocks);
};

const FormatInfo& format_info(Format format);

// Bytes of a [rows, cols] tensor, tail included, and of one row. cols is a multiple of the block (check it first where
// it comes from a file). A product beyond 64 bits gives UINT64_MAX, so that a hostile shape fails the caller's size
// check.
uint64_t tensor_bytes(Format format, int64_t rows, int64_t cols);
uint64_t row_bytes(Format format, int64_t cols);

// By lower- or upper-case name, "i2_s"; nullptr if there is none.
const FormatInfo* find_format(std::string_view name);

}  // namespace tern
