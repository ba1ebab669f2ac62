// Q2_0 and PQ2_0: two bits per weight and one f16 scale per 64 or 128; 2.25 or 2.125 bits per value. The 2-bit Bonsai
// models use them.
#pragma once

#include <cstdint>

#include "quant/format.h"

namespace tern {

// The f16 scale d first, then the codes in order: value j is bits 2(j mod 4) and up of byte j / 4, and stands for d ·
// (c − 1). The quantizer writes 0, 1, 2 for −d, 0, +d; a 3 decodes to +2d.
//
// Two layouts share ggml's type id 42. llama.cpp's has groups of 64 (18 bytes; "Q2_0" here); PrismML's has groups of
// 128 (34 bytes; "PQ2_0", type 142 in newer PrismML files). Only the distance between two tensors tells them apart
// (file/gguf/gguf.h).
//
// The quantizer takes d = max|x| and c = x/d rounded + 1: exact for weights that are −s, 0, +s.
//
// Example, 128 values x[j] = 0.5 · ((j mod 3) − 1): codes 0 1 2 0 | 1 2 0 1 | 2 0 1 2 give 00 38 | 24 49 92 24 49 92 …
//
// Source: PrismML-Eng/llama.cpp, ggml/src/ggml-common.h (block_q2_0).
template <int kValues>
struct Q2Block {
  uint16_t d;
  uint8_t codes[kValues / 4];
};

inline constexpr int kQ2_0Block = 64;
inline constexpr int kPq2_0Block = 128;
using Q2_0Block = Q2Block<kQ2_0Block>;
using Pq2_0Block = Q2Block<kPq2_0Block>;
static_assert(sizeof(Q2_0Block) == 18 && sizeof(Pq2_0Block) == 34);

template <int kBlockValues>
struct Q2 {
  using Block = Q2Block<kBlockValues>;
  static constexpr FormatId kId =
      kBlockValues == kQ2_0Block ? FormatId{Format::kQ2_0, "Q2_0", 42} : FormatId{Format::kPQ2_0, "PQ2_0", 142};
  static constexpr int kValues = kBlockValues;
  static constexpr Coding kCoding = {.n_codes = 4, .zero = 1, .group = kValues};

  static void unpack(const Block& block, BlockParts& parts);
  static Block encode(const float* values);
};
using Q2_0 = Q2<kQ2_0Block>;
using PQ2_0 = Q2<kPq2_0Block>;

}  // namespace tern
