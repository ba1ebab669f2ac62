#include "quant/tq2_0.h"

#include "base/half.h"
#include "quant/block_loop.h"

namespace tern {
namespace {

// Calls body(byte, shift, value) for every value of a block: where its code lies.
template <class Body>
void for_each_code(Body body) {
  for (int group = 0; group < 2; ++group) {
    for (int plane = 0; plane < 4; ++plane) {
      for (int m = 0; m < 32; ++m) body(group * 32 + m, 2 * plane, group * 128 + plane * 32 + m);
    }
  }
}

}  // namespace

void decode_tq2_0(Bytes blocks, std::span<float> values) {
  decode_blocks<Tq2_0Block, kTq2_0Block>(blocks, values, [](const Tq2_0Block& block, float* out) {
    const float d = f16_to_f32(block.d);
    for_each_code([&](int byte, int shift, int value) {
      out[value] = d * static_cast<float>(((block.codes[byte] >> shift) & 3) - 1);
    });
  });
}

void encode_tq2_0(std::span<const float> values, MutableBytes blocks) {
  encode_blocks<Tq2_0Block, kTq2_0Block>(values, blocks, [](const float* x) {
    const float d = max_magnitude(x, kTq2_0Block);
    const float inverse = inverse_or_zero(d);
    Tq2_0Block block = {.codes = {}, .d = f32_to_f16(d)};
    for_each_code([&](int byte, int shift, int value) {
      const int code = round_and_clamp(x[value] * inverse, -1, 1) + 1;
      block.codes[byte] = static_cast<uint8_t>(block.codes[byte] | code << shift);
    });
    return block;
  });
}

}  // namespace tern
