// IQ4_NL: 32 values at 4 bits and one f16 scale; the sixteen levels lie closer together around 0. 4.5 bits per value
// (ggml type 20).
#pragma once

#include "quant/format.h"

namespace tern {

// Where the codes lie: weights are bell-shaped, so most are near 0.
inline constexpr int8_t kIq4NlLevels[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// 18 bytes: the f16 scale d, then the nibbles as in Q4_0 (q4_0.h). A nibble n stands for d · kIq4NlLevels[n]. None
// stands for 0.
//
// Example: d = 0.5, nibbles[2] = 0f: value 2 is 0.5 · 113 = 56.5, value 18 is 0.5 · −127 = −63.5.
//
// Source: ggml-org/llama.cpp, ggml/src/ggml-common.h (block_iq4_nl, kvalues_iq4nl), ggml-quants.c
// (dequantize_row_iq4_nl).
struct IQ4_NL {
  struct Block {
    uint16_t d;
    uint8_t nibbles[16];
  };
  static constexpr FormatId kId = {Format::kIQ4_NL, "IQ4_NL", 20};
  static constexpr int kValues = 32;
  static constexpr Coding kCoding = {.n_codes = 16, .group = 32, .levels = kIq4NlLevels};

  static void unpack(const Block& block, BlockParts& parts);
  static Block pack(const BlockParts& parts);
};
static_assert(sizeof(IQ4_NL::Block) == 18);

}  // namespace tern
