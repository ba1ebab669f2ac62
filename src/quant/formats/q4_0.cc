#include "quant/formats/q4_0.h"

#include "base/half.h"
#include "quant/block_loop.h"
#include "quant/code_planes.h"

namespace tern {
namespace {

constexpr int kHalf = kQ4_0Block / 2;

// The value of largest magnitude, with its sign; the first one if several are equal.
float signed_max(const float* x) {
  float greatest = 0;
  for (int j = 0; j < kQ4_0Block; ++j) {
    if (std::fabs(x[j]) > std::fabs(greatest)) greatest = x[j];
  }
  return greatest;
}

// floor(x/d + 8.5) in 0..15: nearest, with halves rounded up rather than away from zero, as the reference does.
int nibble(float scaled) {
  if (std::isnan(scaled)) return 8;
  return static_cast<int>(std::clamp(scaled + 8.5f, 0.0f, 15.0f));
}

}  // namespace

void Q4_0::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  unpack_nibbles(block.nibbles, kHalf, parts.codes);
}

Q4_0::Block Q4_0::encode(const float* x) {
  const float d = signed_max(x) / -8.0f;
  const float inverse = inverse_or_zero(d);
  Block block = {.d = f32_to_f16(d), .nibbles = {}};
  for (int j = 0; j < kHalf; ++j) {
    block.nibbles[j] = static_cast<uint8_t>(nibble(x[j] * inverse) | nibble(x[j + kHalf] * inverse) << 4);
  }
  return block;
}

}  // namespace tern
