#include "quant/formats/mxfp4.h"

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "quant/code_planes.h"

namespace tern {
namespace {

constexpr int kBias = 128;  // of the exponent, for levels that are twice the values

// Nibbles have the sign in bit 3, codes are in the order of kMxFp4Levels. The same function converts both ways.
uint8_t reordered(uint8_t code) { return static_cast<uint8_t>(code < 8 ? code + 8 : 15 - code); }
uint8_t nibble_of(int code) { return static_cast<uint8_t>(code >= 8 ? code - 8 : 15 - code); }

}  // namespace

void MXFP4::unpack(const Block& block, BlockParts& parts) {
  parts.d = f32_to_bf16(std::ldexp(1.0f, block.exponent - kBias));
  unpack_nibbles(block.nibbles, kValues / 2, parts.codes);
  for (int i = 0; i < kValues; ++i) parts.codes[i] = reordered(parts.codes[i]);
}

MXFP4::Block MXFP4::encode(const float* x) {
  float greatest = 0;
  for (int i = 0; i < kValues; ++i) greatest = std::max(greatest, std::isnan(x[i]) ? 0 : std::abs(x[i]));
  Block block = {};
  if (greatest == 0) return block;
  const int exponent = std::isinf(greatest) ? 255 : std::clamp(std::ilogb(greatest) - 2 + 127, 0, 254);
  block.exponent = static_cast<uint8_t>(exponent);
  const float d = std::ldexp(1.0f, exponent - kBias);
  uint8_t nibbles[kValues];
  for (int i = 0; i < kValues; ++i) {
    const float level = std::isnan(x[i]) ? 0 : x[i] / d;
    int best = 8;  // +0
    for (int code = 0; code < 16; ++code) {
      const float error = std::abs(level - static_cast<float>(kMxFp4Levels[code]));
      if (error < std::abs(level - static_cast<float>(kMxFp4Levels[best]))) best = code;
    }
    nibbles[i] = nibble_of(best);
  }
  pack_nibbles(nibbles, kValues / 2, block.nibbles);
  return block;
}

}  // namespace tern
