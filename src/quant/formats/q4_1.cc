#include "quant/formats/q4_1.h"

#include "quant/code_planes.h"

namespace tern {

void Q4_1::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  parts.dmin = block.m ^ 0x8000;
  unpack_nibbles(block.nibbles, kValues / 2, parts.codes);
}

Q4_1::Block Q4_1::pack(const BlockParts& parts) {
  Block block = {.d = parts.d, .m = static_cast<uint16_t>(parts.dmin ^ 0x8000), .nibbles = {}};
  pack_nibbles(parts.codes, kValues / 2, block.nibbles);
  return block;
}

}  // namespace tern
