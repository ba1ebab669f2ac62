// Q1_0: one sign bit per weight and one f16 scale per 128; 1.125 bits per value (ggml type 41).
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace tern {

inline constexpr int kQ1_0Block = 128;

// 18 bytes: the f16 scale d first, then 128 bits. Value j is bit j mod 8 of byte j / 8, lowest first: 1 is +d, 0 is −d.
// There is no zero.
//
// The quantiser takes d = mean |x|, which is the least-squares scale, and the bit x ≥ 0.
//
// Example: x[j] = −0.5 where 3 divides j, else +0.5: bits 0 1 1 0 1 1 0 1 | 1 0 1 1 … give 00 38 | b6 6d db b6 6d db …
//
// Source: PrismML-Eng/llama.cpp, ggml/src/ggml-common.h (block_q1_0), ggml-quants.c (quantize_row_q1_0_ref).
struct Q1_0Block {
  uint16_t d;
  uint8_t bits[16];
};
static_assert(sizeof(Q1_0Block) == 18);

void decode_q1_0(Bytes blocks, std::span<float> values);
void encode_q1_0(std::span<const float> values, MutableBytes blocks);

}  // namespace tern
