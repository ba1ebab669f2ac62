// Q4_K: 256 values at 4 bits in groups of 32, each with a 6-bit scale and a 6-bit min; 4.5 bits per value (ggml type
// 12). It is the main format of a Q4_K_M file.
#pragma once

#include "quant/format.h"

namespace tern {

// 144 bytes: the f16 numbers d and dmin, 12 bytes of scales and mins (code_planes.h), then 128 bytes of nibbles. Their
// bytes 32k … 32k + 31 hold group 2k in the low nibbles and group 2k + 1 in the high ones. A value of group g is d ·
// scales[g] · nibble − dmin · mins[g], so no code is wasted on weights that are not centered.
//
// Example: value 40 has l = 8 in group 1. With nibbles[8] = 9x (x is value 8), scales[1] = 3, mins[1] = 2, d = 0.25 and
// dmin = 0.5 the value is 0.25 · 3 · 9 − 0.5 · 2 = 5.75.
//
// Source: ggml-org/llama.cpp, ggml/src/ggml-common.h (block_q4_K), ggml-quants.c (dequantize_row_q4_K).
struct Q4_K {
  struct Block {
    uint16_t d, dmin;
    uint8_t scales[12];
    uint8_t nibbles[128];
  };
  static constexpr FormatId kId = {Format::kQ4_K, "Q4_K", 12};
  static constexpr int kValues = 256;
  static constexpr Coding kCoding = {.n_codes = 16, .group = 32, .least_scale = 0, .most_scale = 63, .has_mins = true};

  static void unpack(const Block& block, BlockParts& parts);
  static Block pack(const BlockParts& parts);
};
static_assert(sizeof(Q4_K::Block) == 144);

}  // namespace tern
