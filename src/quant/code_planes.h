// Pieces that several formats are made of.
#pragma once

#include <cstdint>

#include "quant/coding.h"

namespace tern {

// n bytes of two codes each: the low nibble of byte i is value i's, the high one value i + n's.
inline void unpack_nibbles(const uint8_t* bytes, int n, uint8_t* codes) {
  for (int i = 0; i < n; ++i) {
    codes[i] = bytes[i] & 15;
    codes[i + n] = bytes[i] >> 4;
  }
}
inline void pack_nibbles(const uint8_t* codes, int n, uint8_t* bytes) {
  for (int i = 0; i < n; ++i) bytes[i] = static_cast<uint8_t>((codes[i] & 15) | codes[i + n] << 4);
}

// 64 bytes of 256 codes of two bits: of each half of 128 values, run r of 32 has bits 2r and 2r + 1 of 32 bytes. Codes
// may have more bits, which are left out.
inline void unpack_two_bit_planes(const uint8_t* bytes, uint8_t* codes) {
  for (int i = 0; i < 256; ++i) codes[i] = bytes[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
}
inline void pack_two_bit_planes(const uint8_t* codes, uint8_t* bytes) {
  for (int i = 0; i < 256; ++i) {
    uint8_t& byte = bytes[i / 128 * 32 + i % 32];
    byte = static_cast<uint8_t>((i % 128 < 32 ? 0 : byte) | (codes[i] & 3) << i % 128 / 32 * 2);
  }
}

// The 12 bytes in which Q4_K and Q5_K keep eight scales and eight mins of 6 bits. The first four of each have a byte's
// low six bits: scales in bytes 0 … 3, mins in 4 … 7. Bytes 8 … 11 hold the low four bits of the last four, a scale's
// below a min's; their high two bits are what the first eight bytes have left.
void unpack_k_scales(const uint8_t (&bytes)[12], BlockParts& parts);
void pack_k_scales(const BlockParts& parts, uint8_t (&bytes)[12]);

}  // namespace tern
