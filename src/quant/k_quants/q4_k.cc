#include "quant/k_quants/q4_k.h"

#include "quant/code_planes.h"

namespace tern {

void Q4_K::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  parts.dmin = block.dmin;
  unpack_k_scales(block.scales, parts);
  for (int pair = 0; pair < 4; ++pair) unpack_nibbles(block.nibbles + 32 * pair, 32, parts.codes + 64 * pair);
}

Q4_K::Block Q4_K::pack(const BlockParts& parts) {
  Block block = {.d = parts.d, .dmin = parts.dmin, .scales = {}, .nibbles = {}};
  pack_k_scales(parts, block.scales);
  for (int pair = 0; pair < 4; ++pair) pack_nibbles(parts.codes + 64 * pair, 32, block.nibbles + 32 * pair);
  return block;
}

}  // namespace tern
