#include "quant/k_quants/q5_k.h"

#include "quant/code_planes.h"

namespace tern {

void Q5_K::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  parts.dmin = block.dmin;
  unpack_k_scales(block.scales, parts);
  for (int pair = 0; pair < 4; ++pair) unpack_nibbles(block.nibbles + 32 * pair, 32, parts.codes + 64 * pair);
  for (int i = 0; i < kValues; ++i) {
    parts.codes[i] = static_cast<uint8_t>(parts.codes[i] | (block.high[i % 32] >> i / 32 & 1) << 4);
  }
}

Q5_K::Block Q5_K::pack(const BlockParts& parts) {
  Block block = {.d = parts.d, .dmin = parts.dmin, .scales = {}, .high = {}, .nibbles = {}};
  pack_k_scales(parts, block.scales);
  for (int pair = 0; pair < 4; ++pair) pack_nibbles(parts.codes + 64 * pair, 32, block.nibbles + 32 * pair);
  for (int i = 0; i < kValues; ++i) {
    block.high[i % 32] = static_cast<uint8_t>(block.high[i % 32] | parts.codes[i] >> 4 << i / 32);
  }
  return block;
}

}  // namespace tern
