// Q6_K: 256 values at 6 bits, a signed 8-bit scale per 16 values and one f16 number that multiplies the scales; 6.5625
// bits per value (ggml type 14).
#pragma once

#include <cstdint>

#include "quant/format.h"

namespace tern {

inline constexpr int kQ6_KBlock = 256;
inline constexpr int kQ6_KGroup = 16;  // values per signed 8-bit scale

// 210 bytes for 256 values: low[128], high[64], scales[16], then the f16 d. A six-bit code is split into its low four
// bits and its high two; value i is d · scales[i / 16] · (code − 32).
//
// The two halves of 128 values lie one after the other in each array (64 bytes of low, 32 of high, 8 scales). Within a
// half, with l = 0 … 31:
//
//   value       low nibble of         high bits of high[l]    scale
//   l           low[l]      bits 3:0  bits 1:0                scales[l / 16]
//   l + 32      low[l + 32] bits 3:0  bits 3:2                scales[2 + l / 16]
//   l + 64      low[l]      bits 7:4  bits 5:4                scales[4 + l / 16]
//   l + 96      low[l + 32] bits 7:4  bits 7:6                scales[6 + l / 16]
//
// Example: value 70 has l = 6 in the first half, third line. low[6] = 5x (x is value 6) and bits 5:4 of high[6] = 10
// make the code 0x25 = 37, i.e. +5; with scales[4] = −3 and d = 0.25 the value is 0.25 · −3 · 5 = −3.75.
//
// The quantizer is a search (see below), so other encoders may choose other bytes for the same values.
//
// Source: ggml-org/llama.cpp, ggml/src/ggml-common.h (block_q6_K), ggml-quants.c (dequantize_row_q6_K).
struct Q6_KBlock {
  uint8_t low[128];
  uint8_t high[64];
  int8_t scales[kQ6_KBlock / kQ6_KGroup];
  uint16_t d;
};
static_assert(sizeof(Q6_KBlock) == 210);

// For each group of 16, the search first finds the real scale of least squared error by trying divisors around the one
// for its signed maximum. The scale of largest magnitude then becomes −128 · d, the others are rounded to multiples of
// d, and the values are coded again with the stored scales. Deterministic. With weights, each stored scale is the best
// of the rounded one and the two next to it.
struct Q6_K {
  using Block = Q6_KBlock;
  static constexpr FormatId kId = {Format::kQ6_K, "Q6_K", 14};
  static constexpr int kValues = kQ6_KBlock;
  static constexpr Coding kCoding = {
      .n_codes = 64, .zero = 32, .group = kQ6_KGroup, .least_scale = -128, .most_scale = 127};

  static void unpack(const Block& block, BlockParts& parts);
  static Block encode(const float* values);
  static Block encode_weighted(const float* values, const float* weights);
};

}  // namespace tern
