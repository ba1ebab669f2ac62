// TQ2_0: ternary weights at two bits each with an f16 scale per 256; 2.0625 bits per value (ggml type 35).
#pragma once

#include <cstdint>

#include "quant/format.h"

namespace tern {

inline constexpr int kTq2_0Block = 256;

// 66 bytes for 256 values: codes[64], then the f16 scale d. A value is d · (c − 1) with a two-bit code c. The quantizer
// writes 0, 1, 2; a 3 decodes to +2d.
//
// The block is two groups of 128 values in 32 bytes each, in planes from the lowest bits up: bits 2l+1:2l of byte g·32
// + m are value g·128 + l·32 + m. (I2_S has the same planes with the highest bits first.)
//
// The quantizer takes d = max|x| and c = x/d rounded + 1: exact for weights that are −s, 0, +s.
//
// Example: x[j] = 0.5 · ((j mod 3) − 1). Byte 0 holds the values 0, 32, 64, 96: codes 0 2 1 0 = 00 01 10 00 = 0x18. The
// block is 18 61 86 repeated to 64 bytes, then 00 38.
//
// Source: ggml-org/llama.cpp, ggml/src/ggml-common.h (block_tq2_0), ggml-quants.c (quantize_row_tq2_0_ref).
struct Tq2_0Block {
  uint8_t codes[64];
  uint16_t d;
};
static_assert(sizeof(Tq2_0Block) == 66);

struct TQ2_0 {
  using Block = Tq2_0Block;
  static constexpr FormatId kId = {Format::kTQ2_0, "TQ2_0", 35};
  static constexpr bool kIsTernary = true;
  static constexpr int kValues = kTq2_0Block;
  static constexpr Coding kCoding = {.n_codes = 4, .zero = 1, .group = kTq2_0Block};

  static void unpack(const Block& block, BlockParts& parts);
  static Block encode(const float* values);
};

}  // namespace tern
