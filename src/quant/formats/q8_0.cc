#include "quant/formats/q8_0.h"

#include "base/half.h"
#include "quant/block_loop.h"

namespace tern {

void Q8_0::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  for (int j = 0; j < kValues; ++j) parts.codes[j] = static_cast<uint8_t>(block.q[j] + kCoding.zero);
}

Q8_0::Block Q8_0::encode(const float* x) {
  const float d = max_magnitude(x, kValues) / 127.0f;
  const float inverse = inverse_or_zero(d);
  Block block = {.d = f32_to_f16(d), .q = {}};
  for (int j = 0; j < kValues; ++j) block.q[j] = static_cast<int8_t>(round_and_clamp(x[j] * inverse, -127, 127));
  return block;
}

}  // namespace tern
