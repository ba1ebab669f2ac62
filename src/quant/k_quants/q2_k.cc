#include "quant/k_quants/q2_k.h"

#include "quant/code_planes.h"

namespace tern {

void Q2_K::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  parts.dmin = block.dmin;
  for (int g = 0; g < 16; ++g) {
    parts.scales[g] = static_cast<int8_t>(block.scales[g] & 15);
    parts.mins[g] = block.scales[g] >> 4;
  }
  unpack_two_bit_planes(block.codes, parts.codes);
}

Q2_K::Block Q2_K::pack(const BlockParts& parts) {
  Block block = {.scales = {}, .codes = {}, .d = parts.d, .dmin = parts.dmin};
  for (int g = 0; g < 16; ++g) block.scales[g] = static_cast<uint8_t>(parts.scales[g] | parts.mins[g] << 4);
  pack_two_bit_planes(parts.codes, block.codes);
  return block;
}

}  // namespace tern
