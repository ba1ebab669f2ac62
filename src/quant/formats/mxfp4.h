// MXFP4: 32 values of four bits with one power of two as their scale; 4.25 bits per value (ggml type 39). The experts
// of gpt-oss.
#pragma once

#include "quant/format.h"

namespace tern {

// Twice the values of E2M1, a float of two exponent bits and one mantissa bit, in ascending order. Both zeros are
// there.
inline constexpr int8_t kMxFp4Levels[16] = {-12, -8, -6, -4, -3, -2, -1, 0, 0, 1, 2, 3, 4, 6, 8, 12};

// 17 bytes: the exponent e, then the nibbles as in Q4_0 (q4_0.h). The low three bits of a nibble choose 0, 1, 2, 3, 4,
// 6, 8 or 12, bit 3 is the sign, and the value is that times 2^(e − 128).
//
// 255 stands for NaN in the standard, and for the next power of two here, as in llama.cpp.
//
// Example: e = 127, nibbles[2] = d3: value 2 is 3 · 0.5 = 1.5, value 18 is −6 · 0.5 = −3.
//
// Source: ggml-org/llama.cpp, ggml/src/ggml-common.h (block_mxfp4, kvalues_mxfp4), ggml-quants.c
// (dequantize_row_mxfp4); OCP Microscaling Formats 1.0.
struct MXFP4 {
  struct Block {
    uint8_t exponent;
    uint8_t nibbles[16];
  };
  static constexpr FormatId kId = {Format::kMXFP4, "MXFP4", 39};
  static constexpr int kValues = 32;
  static constexpr Coding kCoding = {.n_codes = 16, .group = 32, .levels = kMxFp4Levels, .has_bf16_d = true};

  static void unpack(const Block& block, BlockParts& parts);
  // The power of two with which the greatest value is 4 to 8 times the scale, and the nearest levels.
  static Block encode(const float* x);
};
static_assert(sizeof(MXFP4::Block) == 17);

}  // namespace tern
