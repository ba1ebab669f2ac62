#include "quant/formats/q1_0.h"

#include <cmath>

#include "base/half.h"

namespace tern {

void Q1_0::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  for (int j = 0; j < kValues; ++j) parts.codes[j] = block.bits[j / 8] >> j % 8 & 1;
}

Q1_0::Block Q1_0::encode(const float* x) {
  float total = 0;
  for (int j = 0; j < kValues; ++j) total += std::isnan(x[j]) ? 0.0f : std::fabs(x[j]);
  Block block = {.d = f32_to_f16(total / kValues), .bits = {}};
  for (int j = 0; j < kValues; ++j) {
    block.bits[j / 8] = static_cast<uint8_t>(block.bits[j / 8] | (x[j] >= 0 ? 1 : 0) << j % 8);
  }
  return block;
}

}  // namespace tern
