#include "quant/q8_0.h"

#include "base/half.h"
#include "quant/block_loop.h"

namespace tern {

void decode_q8_0(Bytes blocks, std::span<float> values) {
  decode_blocks<Q8_0Block, kQ8_0Block>(blocks, values, [](const Q8_0Block& block, float* out) {
    const float d = f16_to_f32(block.d);
    for (int j = 0; j < kQ8_0Block; ++j) out[j] = d * static_cast<float>(block.q[j]);
  });
}

void encode_q8_0(std::span<const float> values, MutableBytes blocks) {
  encode_blocks<Q8_0Block, kQ8_0Block>(values, blocks, [](const float* x) {
    const float d = max_magnitude(x, kQ8_0Block) / 127.0f;
    const float inverse = inverse_or_zero(d);
    Q8_0Block block = {.d = f32_to_f16(d), .q = {}};
    for (int j = 0; j < kQ8_0Block; ++j) block.q[j] = static_cast<int8_t>(round_and_clamp(x[j] * inverse, -127, 127));
    return block;
  });
}

}  // namespace tern
