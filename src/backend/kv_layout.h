// How large keys and values are, and where those of one layer lie in a block of a host's store.
#pragma once

#include <cstddef>

#include "backend/ops.h"
#include "base/half.h"

namespace tern {

// q8_0: int8 codes and, for so many of them, a scale in f16.
inline constexpr int kKvScaleGroup = 32;
inline constexpr int kMostKvScales = 32;  // of a head: head_dim is 1,024 at most
constexpr size_t kv_scales_of(int head_dim) {
  return static_cast<size_t>((head_dim + kKvScaleGroup - 1) / kKvScaleGroup);
}

// Of one side (keys or values) of one head of one token.
constexpr uint64_t kv_head_bytes(int head_dim, KvType type) {
  const auto dim = static_cast<uint64_t>(head_dim);
  if (type == KvType::kQ8_0) return dim + 2 * kv_scales_of(head_dim);
  return dim * (type == KvType::kF16 ? 2 : 4);
}

// Keys and values of one layer, and of all, for `n_tokens` tokens.
inline uint64_t kv_layer_bytes(const Config& config, int layer, int n_tokens, KvType type) {
  return 2 * kv_head_bytes(config.head_dim, type) * static_cast<uint64_t>(config.layer(layer).n_kv_heads) *
         static_cast<uint64_t>(n_tokens);
}
inline uint64_t kv_bytes(const Config& config, int n_tokens, KvType type) {
  uint64_t bytes = 0;
  for (int layer = 0; layer < config.n_layers; ++layer) bytes += kv_layer_bytes(config, layer, n_tokens, type);
  return bytes;
}

// Blocks that so many positions take.
constexpr int kv_blocks_for(int n_positions) { return (n_positions + kKvBlock - 1) / kKvBlock; }

// The block of a row's sequence that holds position `pos`.
inline std::byte* kv_block_of(const ops::KvRow& row, int pos) { return row.blocks[pos / kKvBlock]; }

// Where value i of a head at position `pos` lies in a block's side: of the keys, a head's positions lie side by side,
// [n_kv_heads, head_dim, kKvBlock], so that the scores of many need no sums across a vector; of the values its
// dimensions do, [n_kv_heads, kKvBlock, head_dim].
inline size_t kv_key_at(const ops::KvLayer& layer, int kv_head, int pos, int i) {
  return static_cast<size_t>(kv_head * layer.head_dim + i) * kKvBlock + static_cast<size_t>(pos % kKvBlock);
}
inline size_t kv_value_at(const ops::KvLayer& layer, int kv_head, int pos, int i) {
  return static_cast<size_t>(kv_head * kKvBlock + pos % kKvBlock) * static_cast<size_t>(layer.head_dim) +
         static_cast<size_t>(i);
}
// The same of q8_0's scales, behind the side's codes, for dimension i.
inline size_t kv_key_scale_at(const ops::KvLayer& layer, int kv_head, int pos, int i) {
  const size_t row =
      static_cast<size_t>(kv_head) * kv_scales_of(layer.head_dim) + static_cast<size_t>(i / kKvScaleGroup);
  return row * kKvBlock + static_cast<size_t>(pos % kKvBlock);
}
inline size_t kv_value_scale_at(const ops::KvLayer& layer, int kv_head, int pos, int i) {
  return static_cast<size_t>(kv_head * kKvBlock + pos % kKvBlock) * kv_scales_of(layer.head_dim) +
         static_cast<size_t>(i / kKvScaleGroup);
}
// q8_0: where the scales lie behind a side's codes, in bytes from the side's beginning: [place,
// kv_scales_of(head_dim)].
inline size_t kv_scale_offset(const ops::KvLayer& layer) {
  return static_cast<size_t>(layer.n_kv_heads) * kKvBlock * static_cast<size_t>(layer.head_dim);
}

// The scale of codes for numbers up to `most`: as f16, and its inverse. Codes are rounded to even, −127 … 127.
struct Q8Scale {
  uint16_t bits;
  float inverse;  // 0 where the scale is
};
inline Q8Scale q8_scale(float most) {
  const uint16_t bits = f32_to_f16(most / 127.0f);
  const float scale = f16_to_f32(bits);
  return {bits, scale > 0 ? 1 / scale : 0};
}

}  // namespace tern
