#include "quant/formats/iq4_nl.h"

#include "quant/code_planes.h"

namespace tern {

void IQ4_NL::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  unpack_nibbles(block.nibbles, kValues / 2, parts.codes);
}

IQ4_NL::Block IQ4_NL::pack(const BlockParts& parts) {
  Block block = {.d = parts.d, .nibbles = {}};
  pack_nibbles(parts.codes, kValues / 2, block.nibbles);
  return block;
}

void IQ4_XS::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  for (int g = 0; g < 8; ++g) {
    const int low = block.low[g / 2] >> g % 2 * 4 & 15, high = block.high >> 2 * g & 3;
    parts.scales[g] = static_cast<int8_t>((low | high << 4) - 32);
    unpack_nibbles(block.nibbles + 16 * g, 16, parts.codes + 32 * g);
  }
}

IQ4_XS::Block IQ4_XS::pack(const BlockParts& parts) {
  Block block = {.d = parts.d, .high = 0, .low = {}, .nibbles = {}};
  for (int g = 0; g < 8; ++g) {
    const int scale = parts.scales[g] + 32;
    block.low[g / 2] = static_cast<uint8_t>(block.low[g / 2] | (scale & 15) << g % 2 * 4);
    block.high = static_cast<uint16_t>(block.high | scale >> 4 << 2 * g);
    pack_nibbles(parts.codes + 32 * g, 16, block.nibbles + 16 * g);
  }
  return block;
}

}  // namespace tern
