// STQ1_0 (Sherry): ternary weights of which exactly one in four is 0, with an f16 scale per 256; 1.3125 bits per value
// (ggml type 43; 42 in the first published files).
#pragma once

#include <cstdint>

#include "quant/format.h"

namespace tern {

// 42 bytes for 256 values: slots[32], signs[8], then the f16 scale d. The values are in groups of four lanes: lane p of
// group g is value 64·(g / 16) + 16p + g mod 16. A group has a slot, four bits (group g: nibble g mod 2 of byte g / 2,
// the low one first), and a bit of `signs` (bit g mod 8 of byte g / 8):
//   slot / 4         the lane that is 0
//   bit of signs     set: the first of the other lanes is −d, else +d
//   slot bits 0, 1   set: the second, or the third, has the other sign than the first
//
// The quantizer takes d = max|x|, makes the least value of each group 0, and keeps the signs of the others: exact for
// weights that are −s, 0, +s with one 0 in each group.
//
// Example: lane 0 of each group is 0, the others are 0.5, −0.5, 0.5: slots 11 repeated, signs 00, then 00 38.
//
// Source: ggml-org/llama.cpp, pull request 22836.
struct STQ1_0 {
  struct Block {
    uint8_t slots[32];
    uint8_t signs[8];
    uint16_t d;
  };
  static constexpr FormatId kId = {Format::kSTQ1_0, "STQ1_0", 43};
  static constexpr int kValues = 256;
  static constexpr Coding kCoding = {.n_codes = 3, .zero = 1, .group = kValues};

  static void unpack(const Block& block, BlockParts& parts);
  static Block encode(const float* values);
};
static_assert(sizeof(STQ1_0::Block) == 42);

}  // namespace tern
