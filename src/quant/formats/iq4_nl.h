// Two 4-bit formats whose sixteen levels are denser around 0. IQ4_NL: 32 values and one f16 scale, 4.5 bits per value
// (ggml type 20). IQ4_XS: 256 values in groups of 32, each with a signed 6-bit scale; 4.25 bits per value (ggml type
// 23).
#pragma once

#include "quant/format.h"

namespace tern {

// The levels of the codes. Weights are bell-shaped, so most levels are near 0.
inline constexpr int8_t kIq4NlLevels[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

// 18 bytes: the f16 scale d, then the nibbles as in Q4_0 (q4_0.h). A nibble n stands for d · kIq4NlLevels[n]. No level
// is 0.
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

// 136 bytes: the f16 number d, the high bits of the scales, their low bits, then for each group 16 bytes of nibbles as
// in IQ4_NL. A value of group g is d · scale[g] · kIq4NlLevels[n]. A scale is stored as a 6-bit number, scale + 32: its
// low four bits are nibble g % 2 of low[g / 2], its high two are bits 2g and 2g + 1 of high.
//
// Example: value 70 is value 6 of group 2. With the low nibble of low[1] = 5 and bits 5:4 of high = 10 the scale is 37
// − 32 = 5, so with nibbles[38] = x9 and d = 0.25 the value is 0.25 · 5 · 13 = 16.25.
//
// Source: ggml-org/llama.cpp, ggml/src/ggml-common.h (block_iq4_xs), ggml-quants.c (dequantize_row_iq4_xs).
struct IQ4_XS {
  struct Block {
    uint16_t d;
    uint16_t high;
    uint8_t low[4];
    uint8_t nibbles[128];
  };
  static constexpr FormatId kId = {Format::kIQ4_XS, "IQ4_XS", 23};
  static constexpr int kValues = 256;
  static constexpr Coding kCoding = {
      .n_codes = 16, .group = 32, .least_scale = -32, .most_scale = 31, .levels = kIq4NlLevels};

  static void unpack(const Block& block, BlockParts& parts);
  static Block pack(const BlockParts& parts);
};
static_assert(sizeof(IQ4_XS::Block) == 136);

}  // namespace tern
