// Q8_0: 32 values at 8 bits and one f16 scale; 8.5 bits per value (ggml type 8).
#pragma once

#include <cstdint>

#include "quant/format.h"

namespace tern {

inline constexpr int kQ8_0Block = 32;

// 34 bytes: the f16 scale d first, then one signed byte per value, in order. Value j is d · q[j].
//
// The quantizer takes d = max|x| / 127 and q = x/d rounded to nearest, halves away from zero. It computes q with the
// f32 d and only then rounds d to f16, so the error of a value is at most d/2 plus 127 · (error of the f16 d).
//
// Example: x[j] = ((7j) mod 31 − 15) / 15 gives d = 1/127 = 0x2008 and q = −127, −68, −8, 51, …: 08 20 | 81 bc f8 33 …
//
// Source: ggml-org/llama.cpp, ggml/src/ggml-common.h (block_q8_0), ggml-quants.c (quantize_row_q8_0_ref).
struct Q8_0Block {
  uint16_t d;
  int8_t q[kQ8_0Block];
};
static_assert(sizeof(Q8_0Block) == 34);

struct Q8_0 {
  using Block = Q8_0Block;
  static constexpr FormatId kId = {Format::kQ8_0, "Q8_0", 8};
  static constexpr int kValues = kQ8_0Block;
  static constexpr Coding kCoding = {.n_codes = 256, .zero = 128, .group = 32};

  static void unpack(const Block& block, BlockParts& parts);
  static Block encode(const float* values);
};

}  // namespace tern
