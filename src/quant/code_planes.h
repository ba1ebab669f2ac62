// Bit layouts that several formats share.
#pragma once

#include <cstdint>

#include "quant/coding.h"

namespace tern {

// n bytes with two codes each: the low nibble of byte i is value i, the high nibble is value i + n.
inline void unpack_nibbles(const uint8_t* bytes, int n, uint8_t* codes) {
  for (int i = 0; i < n; ++i) {
    codes[i] = bytes[i] & 15;
    codes[i + n] = bytes[i] >> 4;
  }
}
inline void pack_nibbles(const uint8_t* codes, int n, uint8_t* bytes) {
  for (int i = 0; i < n; ++i) bytes[i] = static_cast<uint8_t>((codes[i] & 15) | codes[i + n] << 4);
}

// 256 two-bit codes in 64 bytes. Each half of 128 values takes 32 bytes; its run r of 32 values lies in bits 2r and 2r
// + 1. Packing ignores higher bits of a code.
inline void unpack_two_bit_planes(const uint8_t* bytes, uint8_t* codes) {
  for (int i = 0; i < 256; ++i) codes[i] = bytes[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
}
inline void pack_two_bit_planes(const uint8_t* codes, uint8_t* bytes) {
  for (int i = 0; i < 256; ++i) {
    uint8_t& byte = bytes[i / 128 * 32 + i % 32];
    byte = static_cast<uint8_t>((i % 128 < 32 ? 0 : byte) | (codes[i] & 3) << i % 128 / 32 * 2);
  }
}

// The 12 bytes in which Q4_K and Q5_K keep eight 6-bit scales and eight 6-bit mins. Bytes 0 … 3 hold the first four
// scales in their low six bits, bytes 4 … 7 the first four mins. Bytes 8 … 11 hold the low four bits of the last four,
// the scale in the low nibble and the min in the high one; their high two bits are the top two bits of the first eight
// bytes.
void unpack_k_scales(const uint8_t (&bytes)[12], BlockParts& parts);
void pack_k_scales(const BlockParts& parts, uint8_t (&bytes)[12]);

}  // namespace tern
