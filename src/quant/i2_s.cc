#include "quant/i2_s.h"

#include <algorithm>

#include "base/check.h"

namespace tern {
namespace {

// The bit position of plane 0..3 within a byte.
constexpr int plane_shift(int plane) { return 6 - 2 * plane; }

template <class T>
void decode_planes(Bytes blocks, std::span<T> codes) {
  CHECK(codes.size() % kI2sBlock == 0 && blocks.size() == codes.size() / 4);
  const size_t n_blocks = codes.size() / kI2sBlock;
  for (size_t b = 0; b < n_blocks; ++b) {
    const I2sBlock block = load<I2sBlock>(blocks.data() + b * sizeof(I2sBlock));
    T* values = codes.data() + b * kI2sBlock;
    for (int plane = 0; plane < 4; ++plane) {
      for (int p = 0; p < 32; ++p) {
        values[plane * 32 + p] = static_cast<T>(((block.planes[p] >> plane_shift(plane)) & 3) - 1);
      }
    }
  }
}

template <class T>
void encode_planes(std::span<const T> codes, MutableBytes blocks) {
  CHECK(codes.size() % kI2sBlock == 0 && blocks.size() == codes.size() / 4);
  const size_t n_blocks = codes.size() / kI2sBlock;
  for (size_t b = 0; b < n_blocks; ++b) {
    const T* values = codes.data() + b * kI2sBlock;
    I2sBlock block = {};
    for (int plane = 0; plane < 4; ++plane) {
      for (int p = 0; p < 32; ++p) {
        const T value = values[plane * 32 + p];
        CHECK(value == T{-1} || value == T{0} || value == T{1});
        block.planes[p] = static_cast<uint8_t>(block.planes[p] | ((static_cast<int>(value) + 1) << plane_shift(plane)));
      }
    }
    store(blocks.data() + b * sizeof(I2sBlock), block);
  }
}

// Bits 0, 2, 4, 6 of each byte of the result are set where both bits of that code are.
uint64_t code3_bits(uint64_t word) { return word & (word >> 1) & 0x5555555555555555u; }

}  // namespace

void decode_i2_s_codes(Bytes blocks, std::span<int8_t> codes) { decode_planes<int8_t>(blocks, codes); }
void encode_i2_s_codes(std::span<const int8_t> codes, MutableBytes blocks) { encode_planes<int8_t>(codes, blocks); }
void decode_i2_s(Bytes blocks, std::span<float> codes) { decode_planes<float>(blocks, codes); }
void encode_i2_s(std::span<const float> codes, MutableBytes blocks) { encode_planes<float>(codes, blocks); }

void unpack_i2_s(const std::byte* block, BlockParts& parts) {
  parts.d = 0x3C00;
  for (int i = 0; i < kI2sBlock; ++i) {
    parts.codes[i] = load<uint8_t>(block + i % 32) >> plane_shift(i / 32) & 3;
  }
}

float i2_s_scale(Bytes tensor_data) {
  CHECK(tensor_data.size() >= kI2sTailBytes);
  return load<float>(tensor_data.data() + tensor_data.size() - kI2sTailBytes);
}

void encode_i2_s_tensor(std::span<const int8_t> codes, float scale, MutableBytes out) {
  CHECK(out.size() == codes.size() / 4 + kI2sTailBytes);
  const MutableBytes tail = out.last(kI2sTailBytes);
  encode_i2_s_codes(codes, out.first(codes.size() / 4));
  std::ranges::fill(tail, std::byte{0});
  store(tail.data(), scale);
}

int64_t find_i2_s_code3(Bytes tensor_data) {
  CHECK(tensor_data.size() >= kI2sTailBytes && tensor_data.size() % kI2sBlockBytes == 0);
  const size_t n_bytes = tensor_data.size() - kI2sTailBytes;
  constexpr size_t kWords = kI2sBlockBytes / sizeof(uint64_t);
  for (size_t block = 0; block < n_bytes; block += kI2sBlockBytes) {
    uint64_t hits = 0;  // one branch per block
    for (size_t i = 0; i < kWords; ++i) hits |= code3_bits(load<uint64_t>(tensor_data.data() + block + i * 8));
    if (hits == 0) continue;
    for (size_t i = block; i < block + kI2sBlockBytes; ++i) {
      if (code3_bits(load<uint8_t>(tensor_data.data() + i)) != 0) return static_cast<int64_t>(i);
    }
  }
  return -1;
}

}  // namespace tern
