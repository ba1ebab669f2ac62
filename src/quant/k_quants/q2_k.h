// Q2_K: 256 values at 2 bits in groups of 16, each with a 4-bit scale and a 4-bit min; 2.625 bits per value (ggml type
// 10).
#pragma once

#include "quant/format.h"

namespace tern {

// 84 bytes: one byte for each of 16 groups, with its scale in the low nibble and its min in the high one; 64 bytes of
// codes; then the f16 numbers d and dmin. Each half of 128 values takes 32 bytes; its run r of 32 values lies in bits
// 2r and 2r + 1. A value of group g is d · scale[g] · code − dmin · min[g].
//
// Example: value 70 has l = 6 in run 2 of the first half, and is in group 4. Bits 5:4 of codes[6] = 11, scales[4] =
// 0x25, d = 0.25, dmin = 0.5: the value is 0.25 · 5 · 3 − 0.5 · 2 = 2.75.
//
// Source: ggml-org/llama.cpp, ggml/src/ggml-common.h (block_q2_K), ggml-quants.c (dequantize_row_q2_K).
struct Q2_K {
  struct Block {
    uint8_t scales[16];
    uint8_t codes[64];
    uint16_t d, dmin;
  };
  static constexpr FormatId kId = {Format::kQ2_K, "Q2_K", 10};
  static constexpr int kValues = 256;
  static constexpr Coding kCoding = {.n_codes = 4, .group = 16, .least_scale = 0, .most_scale = 15, .has_mins = true};

  static void unpack(const Block& block, BlockParts& parts);
  static Block pack(const BlockParts& parts);
};
static_assert(sizeof(Q2_K::Block) == 84);

}  // namespace tern
