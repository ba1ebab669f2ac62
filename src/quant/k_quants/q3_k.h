// Q3_K: 256 values at 3 bits in groups of 16, each with a signed 6-bit scale; 3.4375 bits per value (ggml type 11).
#pragma once

#include "quant/format.h"

namespace tern {

// 110 bytes: 32 bytes of high bits, 64 of low bits, 12 of scales, then the f16 number d. The low two bits of the codes
// are stored as in Q2_K (q2_k.h). With the values in eight runs of 32, bit r of high[l] is bit 2 of the code of value l
// of run r. A value of group g is d · scale[g] · (code − 4).
//
// A scale is stored as a 6-bit number, scale + 32. Its low four bits are in byte g % 8, in the high nibble for the last
// eight groups; its high two bits are bits 2(g / 4) and up of byte 8 + g % 4.
//
// Example: value 70 has l = 6 in run 2, and is in group 4. With bits 5:4 of low[6] = 10 and bit 2 of high[6] set its
// code is 6. scales[4] = x5 and bits 3:2 of scales[8] = 10 make the scale 37 − 32 = 5, so with d = 0.25 the value is
// 0.25 · 5 · 2 = 2.5.
//
// Source: ggml-org/llama.cpp, ggml/src/ggml-common.h (block_q3_K), ggml-quants.c (dequantize_row_q3_K).
struct Q3_K {
  struct Block {
    uint8_t high[32];
    uint8_t low[64];
    uint8_t scales[12];
    uint16_t d;
  };
  static constexpr FormatId kId = {Format::kQ3_K, "Q3_K", 11};
  static constexpr int kValues = 256;
  static constexpr Coding kCoding = {.n_codes = 8, .zero = 4, .group = 16, .least_scale = -32, .most_scale = 31};

  static void unpack(const Block& block, BlockParts& parts);
  static Block pack(const BlockParts& parts);
};
static_assert(sizeof(Q3_K::Block) == 110);

}  // namespace tern
