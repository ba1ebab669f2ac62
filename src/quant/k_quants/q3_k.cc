#include "quant/k_quants/q3_k.h"

#include "quant/code_planes.h"

namespace tern {

void Q3_K::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  for (int g = 0; g < 16; ++g) {
    const int low = block.scales[g % 8] >> g / 8 * 4 & 15, high = block.scales[8 + g % 4] >> g / 4 * 2 & 3;
    parts.scales[g] = static_cast<int8_t>((low | high << 4) - 32);
  }
  unpack_two_bit_planes(block.low, parts.codes);
  for (int i = 0; i < kValues; ++i) {
    parts.codes[i] = static_cast<uint8_t>(parts.codes[i] | (block.high[i % 32] >> i / 32 & 1) << 2);
  }
}

Q3_K::Block Q3_K::pack(const BlockParts& parts) {
  Block block = {.high = {}, .low = {}, .scales = {}, .d = parts.d};
  for (int g = 0; g < 16; ++g) {
    const int scale = parts.scales[g] + 32;
    block.scales[g % 8] = static_cast<uint8_t>(block.scales[g % 8] | (scale & 15) << g / 8 * 4);
    block.scales[8 + g % 4] = static_cast<uint8_t>(block.scales[8 + g % 4] | scale >> 4 << g / 4 * 2);
  }
  pack_two_bit_planes(parts.codes, block.low);
  for (int i = 0; i < kValues; ++i) {
    block.high[i % 32] = static_cast<uint8_t>(block.high[i % 32] | parts.codes[i] >> 2 << i / 32);
  }
  return block;
}

}  // namespace tern
