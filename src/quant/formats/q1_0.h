// Q1_0: one sign bit per weight and one f16 scale per 128; 1.125 bits per value (ggml type 41).
#pragma once

#include <cstdint>

#include "quant/format.h"

namespace tern {

inline constexpr int kQ1_0Block = 128;

// 18 bytes: the f16 scale d first, then 128 bits. Value j is bit j mod 8 of byte j / 8, lowest first: 1 is +d, 0 is −d.
// There is no zero.
//
// The quantizer takes d = mean |x|, which is the least-squares scale, and the bit x ≥ 0.
//
// Example: x[j] = −0.5 if j is divisible by 3, else +0.5: bits 0 1 1 0 1 1 0 1 | 1 0 1 1 … give 00 38 | b6 6d db b6 6d
// db …
//
// Source: PrismML-Eng/llama.cpp, ggml/src/ggml-common.h (block_q1_0), ggml-quants.c (quantize_row_q1_0_ref).
struct Q1_0Block {
  uint16_t d;
  uint8_t bits[16];
};
static_assert(sizeof(Q1_0Block) == 18);

// The level of each bit.
inline constexpr int8_t kQ1_0Levels[2] = {-1, 1};

struct Q1_0 {
  using Block = Q1_0Block;
  static constexpr FormatId kId = {Format::kQ1_0, "Q1_0", 41};
  static constexpr int kValues = kQ1_0Block;
  static constexpr Coding kCoding = {.n_codes = 2, .group = kQ1_0Block, .levels = kQ1_0Levels};

  static void unpack(const Block& block, BlockParts& parts);
  static Block encode(const float* values);
};

}  // namespace tern
