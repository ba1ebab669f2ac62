#include "quant/iq4_nl.h"

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

}  // namespace tern
