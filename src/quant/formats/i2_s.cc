#include "quant/formats/i2_s.h"

#include <algorithm>

#include "base/check.h"

namespace tern {
namespace {

constexpr int kPlane = kI2sBlock / 4;  // values of a plane

// The bit position of plane 0..3 within a byte.
constexpr int plane_shift(int plane) { return 6 - 2 * plane; }

// Calls body(plane, p, i) for the first n values of a block; i is the value's index.
template <class Body>
void for_places(int n, const Body& body) {
  for (int plane = 0; plane * kPlane < n; ++plane) {
    const int count = std::min(kPlane, n - plane * kPlane);
    for (int p = 0; p < count; ++p) body(plane, p, plane * kPlane + p);
  }
}

// Calls body(index of the block, number of its values in use) for all blocks that `n_codes` codes take.
template <class Body>
void for_blocks(size_t n_codes, const Body& body) {
  for (size_t b = 0; b * kI2sBlock < n_codes; ++b) {
    body(b, static_cast<int>(std::min<size_t>(kI2sBlock, n_codes - b * kI2sBlock)));
  }
}

template <class T>
void decode_planes(Bytes blocks, std::span<T> codes) {
  CHECK(blocks.size() == i2_s_bytes(codes.size()));
  for_blocks(codes.size(), [&](size_t b, int n) {
    const I2sBlock block = load<I2sBlock>(blocks.data() + b * sizeof(I2sBlock));
    T* values = codes.data() + b * kI2sBlock;
    for_places(n, [&](int plane, int p, int i) {
      values[i] = static_cast<T>(((block.planes[p] >> plane_shift(plane)) & 3) - 1);
    });
  });
}

template <class T>
void encode_planes(std::span<const T> codes, MutableBytes blocks) {
  CHECK(blocks.size() == i2_s_bytes(codes.size()));
  for_blocks(codes.size(), [&](size_t b, int n) {
    const T* values = codes.data() + b * kI2sBlock;
    I2sBlock block = {};
    for_places(n, [&](int plane, int p, int i) {
      const T value = values[i];
      CHECK(value == T{-1} || value == T{0} || value == T{1});
      block.planes[p] = static_cast<uint8_t>(block.planes[p] | ((static_cast<int>(value) + 1) << plane_shift(plane)));
    });
    store(blocks.data() + b * sizeof(I2sBlock), block);
  });
}

// The location of a value's code.
struct CodePlace {
  uint64_t byte;  // index into the blocks
  int shift;
  uint64_t left;  // values from this one to the end of its plane
};

CodePlace code_place(uint64_t value) {
  const uint64_t in_block = value % kI2sBlock, p = in_block % kPlane;
  return {.byte = value / kI2sBlock * kI2sBlockBytes + p,
          .shift = plane_shift(static_cast<int>(in_block / kPlane)),
          .left = kPlane - p};
}

// Bits 0, 2, 4 and 6 of each byte of the result are set for the codes 3, in which both bits are set.
uint64_t code3_bits(uint64_t word) { return word & (word >> 1) & 0x5555555555555555u; }

}  // namespace

void decode_i2_s_codes(Bytes blocks, std::span<int8_t> codes) { decode_planes<int8_t>(blocks, codes); }
void encode_i2_s_codes(std::span<const int8_t> codes, MutableBytes blocks) { encode_planes<int8_t>(codes, blocks); }
void decode_i2_s(Bytes blocks, std::span<float> codes) { decode_planes<float>(blocks, codes); }
void encode_i2_s(std::span<const float> codes, MutableBytes blocks) { encode_planes<float>(codes, blocks); }

// A run that stays in one plane of both sides is copied byte by byte with constant shifts.
void copy_i2_s_codes(Bytes from, MutableBytes to, I2sPlace place, uint64_t n) {
  CHECK(from.size() >= i2_s_bytes(place.from_at + n) && to.size() >= i2_s_bytes(place.to_at + n));
  const auto* const in = reinterpret_cast<const uint8_t*>(from.data());
  auto* const out = reinterpret_cast<uint8_t*>(to.data());
  for (uint64_t done = 0; done < n;) {
    const CodePlace a = code_place(place.from_at + done), b = code_place(place.to_at + done);
    const uint64_t run = std::min({a.left, b.left, n - done});
    const auto kept = static_cast<uint8_t>(~(3 << b.shift));
    for (uint64_t i = 0; i < run; ++i) {
      const int code = in[a.byte + i] >> a.shift & 3;
      out[b.byte + i] = static_cast<uint8_t>((out[b.byte + i] & kept) | code << b.shift);
    }
    done += run;
  }
}

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
    uint64_t hits = 0;  // all words first: one branch per block
    for (size_t i = 0; i < kWords; ++i) hits |= code3_bits(load<uint64_t>(tensor_data.data() + block + i * 8));
    if (hits == 0) continue;
    for (size_t i = block; i < block + kI2sBlockBytes; ++i) {
      if (code3_bits(load<uint8_t>(tensor_data.data() + i)) != 0) return static_cast<int64_t>(i);
    }
  }
  return -1;
}

}  // namespace tern
