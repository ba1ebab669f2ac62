// Q4_1: 32 values at 4 bits, one f16 scale and one f16 minimum; 5 bits per value (ggml type 3).
#pragma once

#include "quant/format.h"

namespace tern {

// 20 bytes: d and m as f16, then the nibbles as in Q4_0 (q4_0.h). A nibble n stands for d · n + m. In BlockParts, dmin
// is −m.
//
// Example: d = 0.5, m = −3, nibbles[2] = 7c: value 2 is 0.5 · 12 − 3 = 3, value 18 is 0.5 · 7 − 3 = 0.5.
//
// Source: ggml-org/llama.cpp, ggml/src/ggml-common.h (block_q4_1), ggml-quants.c (dequantize_row_q4_1).
struct Q4_1 {
  struct Block {
    uint16_t d, m;
    uint8_t nibbles[16];
  };
  static constexpr FormatId kId = {Format::kQ4_1, "Q4_1", 3};
  static constexpr int kValues = 32;
  static constexpr Coding kCoding = {.n_codes = 16, .group = 32, .has_mins = true};

  static void unpack(const Block& block, BlockParts& parts);
  static Block pack(const BlockParts& parts);
};
static_assert(sizeof(Q4_1::Block) == 20);

}  // namespace tern
