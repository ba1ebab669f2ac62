#include "quant/formats/tq2_0.h"

#include "base/half.h"
#include "quant/block_loop.h"

namespace tern {
namespace {

// Calls body(byte, shift, value) for every value of a block, with the location of its code.
template <class Body>
void for_each_code(Body body) {
  for (int group = 0; group < 2; ++group) {
    for (int plane = 0; plane < 4; ++plane) {
      for (int m = 0; m < 32; ++m) body(group * 32 + m, 2 * plane, group * 128 + plane * 32 + m);
    }
  }
}

}  // namespace

void TQ2_0::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  for_each_code([&](int byte, int shift, int value) { parts.codes[value] = block.codes[byte] >> shift & 3; });
}

TQ2_0::Block TQ2_0::encode(const float* x) {
  const float d = max_magnitude(x, kValues);
  const float inverse = inverse_or_zero(d);
  Block block = {.codes = {}, .d = f32_to_f16(d)};
  for_each_code([&](int byte, int shift, int value) {
    const int code = round_and_clamp(x[value] * inverse, -1, 1) + 1;
    block.codes[byte] = static_cast<uint8_t>(block.codes[byte] | code << shift);
  });
  return block;
}

}  // namespace tern
