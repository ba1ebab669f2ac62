// Shared by the decode and encode functions of all formats: loops over whole blocks, and rounding that is defined for
// every input.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/check.h"

namespace tern {

// Calls body(const Block&, Value* values) for each block; `values` points at the block's kValues values. Each block is
// copied first, because the bytes of a file need not be aligned for Block.
template <class Block, size_t kValues, class Value, class Body>
void decode_blocks(Bytes blocks, std::span<Value> values, Body body) {
  CHECK(values.size() % kValues == 0 && blocks.size() == values.size() / kValues * sizeof(Block));
  const std::byte* at = blocks.data();
  for (size_t i = 0; i < values.size(); i += kValues, at += sizeof(Block)) body(load<Block>(at), values.data() + i);
}

// Stores body(const float* values) -> Block for each run of kValues floats.
template <class Block, size_t kValues, class Body>
void encode_blocks(std::span<const float> values, MutableBytes blocks, Body body) {
  CHECK(values.size() % kValues == 0 && blocks.size() == values.size() / kValues * sizeof(Block));
  std::byte* at = blocks.data();
  for (size_t i = 0; i < values.size(); i += kValues, at += sizeof(Block)) {
    const Block block = body(values.data() + i);
    store(at, block);
  }
}

// Nearest integer, halves away from zero, saturated to [low, high]. NaN gives 0, so a damaged weight causes no
// undefined behavior.
//
// For |x| < 2^22, adding the largest float below one half and truncating gives the same as std::round, which is a
// library call on the baseline CPU.
inline int round_and_clamp(float x, int low, int high) {
  if (std::isnan(x)) return 0;
  const float clamped = std::clamp(x, static_cast<float>(low), static_cast<float>(high));
  return static_cast<int>(clamped + std::copysign(0x1.fffffep-2f, clamped));
}

// 1/x; 0 for x = 0, the scale of a block of zeros.
inline float inverse_or_zero(float x) { return x == 0 ? 0.0f : 1.0f / x; }

// The largest |values[i]| of `n` values; NaN values are skipped.
inline float max_magnitude(const float* values, int n) {
  float greatest = 0;
  for (int i = 0; i < n; ++i) greatest = std::max(greatest, std::fabs(values[i]));
  return greatest;
}

}  // namespace tern
