#include "quant/formats/q2_0.h"

#include "base/half.h"
#include "quant/block_loop.h"

namespace tern {

template <int kBlockValues>
void Q2<kBlockValues>::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  for (int j = 0; j < kValues; ++j) parts.codes[j] = block.codes[j / 4] >> 2 * (j % 4) & 3;
}

template <int kBlockValues>
auto Q2<kBlockValues>::encode(const float* x) -> Block {
  const float d = max_magnitude(x, kValues);
  const float inverse = inverse_or_zero(d);
  Block block = {.d = f32_to_f16(d), .codes = {}};
  for (int j = 0; j < kValues; ++j) {
    const int code = round_and_clamp(x[j] * inverse, -1, 1) + 1;
    block.codes[j / 4] = static_cast<uint8_t>(block.codes[j / 4] | code << 2 * (j % 4));
  }
  return block;
}

template struct Q2<kQ2_0Block>;
template struct Q2<kPq2_0Block>;

}  // namespace tern
