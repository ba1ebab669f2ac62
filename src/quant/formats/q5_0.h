// Q5_0 and Q5_1: 32 values at 5 bits and one f16 scale; Q5_1 also has an f16 minimum. 5.5 and 6 bits per value (ggml
// types 6 and 7).
#pragma once

#include "quant/format.h"

namespace tern {

// 22 bytes: the f16 scale d; then the high bits, where bit j % 8 of high[j / 8] is bit 4 of value j's code; then the
// low four bits as in Q4_0 (q4_0.h). A code c stands for d · (c − 16).
//
// Example: d = 0.5, nibbles[2] = 7c, high[2] = 04: value 2 is 0.5 · (12 − 16) = −2, value 18 is 0.5 · (23 − 16) = 3.5.
//
// Source: ggml-org/llama.cpp, ggml/src/ggml-common.h (block_q5_0, block_q5_1), ggml-quants.c (dequantize_row_q5_0,
// dequantize_row_q5_1).
struct Q5_0 {
  struct Block {
    uint16_t d;
    uint8_t high[4];
    uint8_t nibbles[16];
  };
  static constexpr FormatId kId = {Format::kQ5_0, "Q5_0", 6};
  static constexpr int kValues = 32;
  static constexpr Coding kCoding = {.n_codes = 32, .zero = 16, .group = 32};

  static void unpack(const Block& block, BlockParts& parts);
  static Block pack(const BlockParts& parts);
};
static_assert(sizeof(Q5_0::Block) == 22);

// 24 bytes: the same with m after d. A code c stands for d · c + m. In BlockParts, dmin is −m.
struct Q5_1 {
  struct Block {
    uint16_t d, m;
    uint8_t high[4];
    uint8_t nibbles[16];
  };
  static constexpr FormatId kId = {Format::kQ5_1, "Q5_1", 7};
  static constexpr int kValues = 32;
  static constexpr Coding kCoding = {.n_codes = 32, .group = 32, .has_mins = true};

  static void unpack(const Block& block, BlockParts& parts);
  static Block pack(const BlockParts& parts);
};
static_assert(sizeof(Q5_1::Block) == 24);

}  // namespace tern
