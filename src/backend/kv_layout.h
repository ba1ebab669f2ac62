// Sizes of keys and values, and the layout of one layer within a block of a host's store.
#pragma once

#include <cstddef>

#include "backend/ops.h"
#include "base/half.h"

namespace tern {

// q8_0: int8 codes, with one f16 scale per this many codes.
inline constexpr int kKvScaleGroup = 32;
inline constexpr int kMostKvScales = 32;  // per head: head_dim is 1,024 at most
constexpr size_t kv_scales_of(int head_dim) {
  return static_cast<size_t>((head_dim + kKvScaleGroup - 1) / kKvScaleGroup);
}

// Bytes of one side (keys or values) of one head of one token.
constexpr uint64_t kv_head_bytes(int head_dim, KvType type) {
  const auto dim = static_cast<uint64_t>(head_dim);
  if (type == KvType::kQ8_0) return dim + 2 * kv_scales_of(head_dim);
  return dim * (type == KvType::kF16 ? 2 : 4);
}

// Bytes of the keys and values of `n_tokens` tokens, for one layer and for all.
inline uint64_t kv_layer_bytes(const Config& config, int layer, int n_tokens, KvType type) {
  if (config.layer(layer).is_recurrent || !config.has_own_kv(layer)) return 0;  // state_layout.h
  return 2 * kv_head_bytes(config.layer(layer).head_dim, type) * static_cast<uint64_t>(config.layer(layer).n_kv_heads) *
         static_cast<uint64_t>(n_tokens);
}
inline uint64_t kv_bytes(const Config& config, int n_tokens, KvType type) {
  uint64_t bytes = 0;
  for (int layer = 0; layer < config.n_layers; ++layer) bytes += kv_layer_bytes(config, layer, n_tokens, type);
  return bytes;
}

// The number of blocks that hold n_positions positions.
constexpr int kv_blocks_for(int n_positions) { return (n_positions + kKvBlock - 1) / kKvBlock; }

// The block of a row's sequence that holds position `pos`.
inline std::byte* kv_block_of(const ops::KvRow& row, int pos) { return row.blocks[pos / kKvBlock]; }

// Index of value i of a head at position `pos` within a block's side. Keys are stored [n_kv_heads, head_dim, kKvBlock]:
// a head's positions lie side by side, so that many scores need no sums across a vector. Values are stored [n_kv_heads,
// kKvBlock, head_dim].
inline size_t kv_key_at(const ops::KvLayer& layer, int kv_head, int pos, int i) {
  return static_cast<size_t>(kv_head * layer.head_dim + i) * kKvBlock + static_cast<size_t>(pos % kKvBlock);
}
inline size_t kv_value_at(const ops::KvLayer& layer, int kv_head, int pos, int i) {
  return static_cast<size_t>(kv_head * kKvBlock + pos % kKvBlock) * static_cast<size_t>(layer.head_dim) +
         static_cast<size_t>(i);
}
// The same for q8_0's scales, which follow the side's codes; i is the dimension.
inline size_t kv_key_scale_at(const ops::KvLayer& layer, int kv_head, int pos, int i) {
  const size_t row =
      static_cast<size_t>(kv_head) * kv_scales_of(layer.head_dim) + static_cast<size_t>(i / kKvScaleGroup);
  return row * kKvBlock + static_cast<size_t>(pos % kKvBlock);
}
inline size_t kv_value_scale_at(const ops::KvLayer& layer, int kv_head, int pos, int i) {
  return static_cast<size_t>(kv_head * kKvBlock + pos % kKvBlock) * kv_scales_of(layer.head_dim) +
         static_cast<size_t>(i / kKvScaleGroup);
}
// q8_0: offset of the scales from the start of the side, in bytes; they follow the codes as [place,
// kv_scales_of(head_dim)].
inline size_t kv_scale_offset(const ops::KvLayer& layer) {
  return static_cast<size_t>(layer.n_kv_heads) * kKvBlock * static_cast<size_t>(layer.head_dim);
}

// The f16 scale for codes of numbers up to `most`, and its inverse. Codes are rounded to even, −127 … 127.
struct Q8Scale {
  uint16_t bits;
  float inverse;  // 0 if the scale is 0
};
inline Q8Scale q8_scale(float most) {
  const uint16_t bits = f32_to_f16(most / 127.0f);
  const float scale = f16_to_f32(bits);
  return {bits, scale > 0 ? 1 / scale : 0};
}

}  // namespace tern
