#include "quant/q1_0.h"

#include <cmath>

#include "base/half.h"
#include "quant/block_loop.h"

namespace tern {

void decode_q1_0(Bytes blocks, std::span<float> values) {
  decode_blocks<Q1_0Block, kQ1_0Block>(blocks, values, [](const Q1_0Block& block, float* out) {
    const float d = f16_to_f32(block.d);
    for (int j = 0; j < kQ1_0Block; ++j) out[j] = (block.bits[j / 8] >> j % 8 & 1) != 0 ? d : -d;
  });
}

void encode_q1_0(std::span<const float> values, MutableBytes blocks) {
  encode_blocks<Q1_0Block, kQ1_0Block>(values, blocks, [](const float* x) {
    float total = 0;
    for (int j = 0; j < kQ1_0Block; ++j) total += std::isnan(x[j]) ? 0.0f : std::fabs(x[j]);
    Q1_0Block block = {.d = f32_to_f16(total / kQ1_0Block), .bits = {}};
    for (int j = 0; j < kQ1_0Block; ++j) {
      block.bits[j / 8] = static_cast<uint8_t>(block.bits[j / 8] | (x[j] >= 0 ? 1 : 0) << j % 8);
    }
    return block;
  });
}

}  // namespace tern
