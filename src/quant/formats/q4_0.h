// Q4_0: 32 values at 4 bits and one f16 scale; 4.5 bits per value (ggml type 2).
#pragma once

#include <cstdint>

#include "quant/format.h"

namespace tern {

inline constexpr int kQ4_0Block = 32;

// 18 bytes: the f16 scale d first, then 16 bytes of nibbles. The low nibble of byte j is value j, the high nibble is
// value j + 16. The two halves of the block lie in two planes, so one load, masked and shifted, gives two runs of 16
// values. A nibble n stands for d · (n − 8).
//
// The quantizer divides the value of largest magnitude, with its sign, by −8: that value becomes nibble 0 exactly, and
// the range on its side has no waste. The other sign has only 7 steps, so its largest value may lose a whole step:
// |error| ≤ d there and ≤ d/2 elsewhere, plus the rounding of d to f16.
//
// Example: x[j] = ((7j) mod 31 − 15) / 15: the largest is x[0] = −1, d = 0.125 = 0x3000, x[0] → 0 and x[16] → 10:
// 00 30 | a0 e4 17 5b …
//
// Source: ggml-org/llama.cpp, ggml/src/ggml-common.h (block_q4_0), ggml-quants.c (quantize_row_q4_0_ref).
struct Q4_0Block {
  uint16_t d;
  uint8_t nibbles[kQ4_0Block / 2];
};
static_assert(sizeof(Q4_0Block) == 18);

struct Q4_0 {
  using Block = Q4_0Block;
  static constexpr FormatId kId = {Format::kQ4_0, "Q4_0", 2};
  static constexpr int kValues = kQ4_0Block;
  static constexpr Coding kCoding = {.n_codes = 16, .zero = 8, .group = 32};

  static void unpack(const Block& block, BlockParts& parts);
  static Block encode(const float* values);
};

}  // namespace tern
