#include "quant/formats/q5_0.h"

#include "quant/code_planes.h"

namespace tern {
namespace {

void unpack_five_bits(const uint8_t (&high)[4], const uint8_t (&nibbles)[16], uint8_t* codes) {
  unpack_nibbles(nibbles, 16, codes);
  for (int i = 0; i < 32; ++i) codes[i] = static_cast<uint8_t>(codes[i] | (high[i / 8] >> i % 8 & 1) << 4);
}

void pack_five_bits(const uint8_t* codes, uint8_t (&high)[4], uint8_t (&nibbles)[16]) {
  pack_nibbles(codes, 16, nibbles);
  for (int i = 0; i < 32; ++i) high[i / 8] = static_cast<uint8_t>(high[i / 8] | codes[i] >> 4 << i % 8);
}

}  // namespace

void Q5_0::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  unpack_five_bits(block.high, block.nibbles, parts.codes);
}

Q5_0::Block Q5_0::pack(const BlockParts& parts) {
  Block block = {.d = parts.d, .high = {}, .nibbles = {}};
  pack_five_bits(parts.codes, block.high, block.nibbles);
  return block;
}

void Q5_1::unpack(const Block& block, BlockParts& parts) {
  parts.d = block.d;
  parts.dmin = block.m ^ 0x8000;
  unpack_five_bits(block.high, block.nibbles, parts.codes);
}

Q5_1::Block Q5_1::pack(const BlockParts& parts) {
  Block block = {.d = parts.d, .m = static_cast<uint16_t>(parts.dmin ^ 0x8000), .high = {}, .nibbles = {}};
  pack_five_bits(parts.codes, block.high, block.nibbles);
  return block;
}

}  // namespace tern
