// I2_S: ternary weights at two bits each, one scale per tensor. The format of Microsoft's BitNet GGUF files (ggml type
// 36).
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "quant/coding.h"

namespace tern {

inline constexpr int kI2sBlock = 128;      // values per block
inline constexpr int kI2sBlockBytes = 32;  // bytes per block
inline constexpr int kI2sTailBytes = 32;   // bytes after the last block: the scale and padding

// 128 consecutive weights of a row in 32 bytes, as four planes of 32: byte p holds
//
//   bits 7:6  value p        (plane 0)
//   bits 5:4  value p + 32   (plane 1)
//   bits 3:2  value p + 64   (plane 2)
//   bits 1:0  value p + 96   (plane 3)
//
// and a two-bit code c stands for c − 1: 0 is −1, 1 is 0, 2 is +1; 3 occurs in no well-formed file. The planes make the
// format fast: one 32-byte load, shifted by 6, 4, 2, 0 and masked, gives four runs of 32 consecutive weights.
//
// In a file, a tensor [rows, cols] is rows·cols/128 blocks of its values in row order, followed by 32 bytes. Their
// first four are the f32 scale of the whole tensor. The other 28 are padding without a meaning: files hold zeros,
// garbage, or the scale again. A weight is scale · (c − 1).
//
// In a file, blocks ignore rows: if cols is not a multiple of 128, rows end and begin inside blocks. Everywhere else,
// such a row has its own blocks, and the last is padded with codes 0. A kernel may multiply the padding with any
// values, because Σ c·q stays the same.
//
// Example: values {0: +1, 1: −1, 32: +1, 127: −1, all others 0} with scale 1.5.
//   byte 0 = 10 10 01 01 = a5    byte 1 = 00 01 01 01 = 15    bytes 2..30 = 01 01 01 01 = 55
//   byte 31 = 01 01 01 00 = 54   then 00 00 c0 3f and 28 bytes of padding; 64 bytes in all.
//
// Other layouts have been written with the same type id (blocks of 64 by ARM builds of bitnet.cpp, four rows to a byte
// by some x86 builds), and nothing in a file tells them apart. The published files have the layout above.
//
// Source: microsoft/BitNet, src/ggml-bitnet-mad.cpp (quantize_i2_s) and utils/convert-hf-to-gguf-bitnet.py.
struct I2sBlock {
  uint8_t planes[32];
};
static_assert(sizeof(I2sBlock) == kI2sBlockBytes && alignof(I2sBlock) == 1);

// The bare codes −1, 0, +1 of a row or of whole blocks; the invalid code 3 decodes to +2. blocks.size() must be
// i2_s_bytes(codes.size()).
constexpr uint64_t i2_s_bytes(uint64_t n_codes) { return (n_codes + kI2sBlock - 1) / kI2sBlock * kI2sBlockBytes; }
void decode_i2_s_codes(Bytes blocks, std::span<int8_t> codes);
void encode_i2_s_codes(std::span<const int8_t> codes, MutableBytes blocks);

// The same with codes as floats. Encoding accepts only −1, 0 and +1.
void decode_i2_s(Bytes blocks, std::span<float> codes);
void encode_i2_s(std::span<const float> codes, MutableBytes blocks);

// A block as parts; d is 1, because the scale belongs to the tensor.
inline constexpr Coding kI2sCoding = {.n_codes = 4, .zero = 1, .group = kI2sBlock};
void unpack_i2_s(const std::byte* block, BlockParts& parts);

// The rows that kernels accept: whole words of activations, and not so short that the padding would be many times the
// size in the file.
inline constexpr int kI2sLeastRow = 32, kI2sRowUnit = 4;
constexpr bool is_i2_s_row(int64_t cols) { return cols >= kI2sLeastRow && cols % kI2sRowUnit == 0; }

// Copies n codes unchanged, from code number `from_at` of `from` to code number `to_at` of `to`.
struct I2sPlace {
  uint64_t from_at, to_at;
};
void copy_i2_s_codes(Bytes from, MutableBytes to, I2sPlace place, uint64_t n);

// The scale of a whole tensor; tensor_data is its blocks and its tail.
float i2_s_scale(Bytes tensor_data);

// Writes a whole tensor: blocks, scale, zero padding. codes are −1, 0, +1, and codes.size() is a multiple of kI2sBlock.
// out.size() is codes.size() / 4 + kI2sTailBytes.
void encode_i2_s_tensor(std::span<const int8_t> codes, float scale, MutableBytes out);

// The offset of the first byte that holds the invalid code 3, or −1 if there is none. tensor_data is a whole tensor
// with its tail. The tail is not searched, because such bits are normal there. A hit means a damaged file or another
// layout.
int64_t find_i2_s_code3(Bytes tensor_data);

}  // namespace tern
