#include "quant/q2_0.h"

#include "base/half.h"
#include "quant/block_loop.h"

namespace tern {
namespace {

template <int kValues>
void decode(Bytes blocks, std::span<float> values) {
  decode_blocks<Q2Block<kValues>, kValues>(blocks, values, [](const Q2Block<kValues>& block, float* out) {
    const float d = f16_to_f32(block.d);
    for (int j = 0; j < kValues; ++j) out[j] = d * static_cast<float>((block.codes[j / 4] >> 2 * (j % 4) & 3) - 1);
  });
}

template <int kValues>
void encode(std::span<const float> values, MutableBytes blocks) {
  encode_blocks<Q2Block<kValues>, kValues>(values, blocks, [](const float* x) {
    const float d = max_magnitude(x, kValues);
    const float inverse = inverse_or_zero(d);
    Q2Block<kValues> block = {.d = f32_to_f16(d), .codes = {}};
    for (int j = 0; j < kValues; ++j) {
      const int code = round_and_clamp(x[j] * inverse, -1, 1) + 1;
      block.codes[j / 4] = static_cast<uint8_t>(block.codes[j / 4] | code << 2 * (j % 4));
    }
    return block;
  });
}

}  // namespace

void decode_q2_0(Bytes blocks, std::span<float> values) { decode<kQ2_0Block>(blocks, values); }
void encode_q2_0(std::span<const float> values, MutableBytes blocks) { encode<kQ2_0Block>(values, blocks); }
void decode_pq2_0(Bytes blocks, std::span<float> values) { decode<kPq2_0Block>(blocks, values); }
void encode_pq2_0(std::span<const float> values, MutableBytes blocks) { encode<kPq2_0Block>(values, blocks); }

}  // namespace tern
