// Q5_K: Q4_K with a fifth bit; 5.5 bits per value (ggml type 13).
#pragma once

#include "quant/format.h"

namespace tern {

// 176 bytes: like Q4_K, with 32 bytes of high bits before the nibbles. Bit g of high[l] is bit 4 of the code of value l
// of group g.
//
// Example: value 40 has l = 8 in group 1. With nibbles[8] = 9x and bit 1 of high[8] set its code is 25.
//
// Source: ggml-org/llama.cpp, ggml/src/ggml-common.h (block_q5_K), ggml-quants.c (dequantize_row_q5_K).
struct Q5_K {
  struct Block {
    uint16_t d, dmin;
    uint8_t scales[12];
    uint8_t high[32];
    uint8_t nibbles[128];
  };
  static constexpr FormatId kId = {Format::kQ5_K, "Q5_K", 13};
  static constexpr int kValues = 256;
  static constexpr Coding kCoding = {.n_codes = 32, .group = 32, .least_scale = 0, .most_scale = 63, .has_mins = true};

  static void unpack(const Block& block, BlockParts& parts);
  static Block pack(const BlockParts& parts);
};
static_assert(sizeof(Q5_K::Block) == 176);

}  // namespace tern
