// How large a KV cache is, and where a key or value lies in one layer of a host's.
#pragma once

#include "backend/ops.h"

namespace tern {

constexpr uint64_t kv_value_bytes(KvType type) { return type == KvType::kF16 ? 2 : 4; }

// Keys and values of one layer, and of all, for `n_ctx` tokens.
inline uint64_t kv_layer_bytes(const Config& config, int layer, int n_ctx, KvType type) {
  return 2 * kv_value_bytes(type) * static_cast<uint64_t>(config.kv_width(layer)) * static_cast<uint64_t>(n_ctx);
}
inline uint64_t kv_bytes(const Config& config, int n_ctx, KvType type) {
  uint64_t bytes = 0;
  for (int layer = 0; layer < config.n_layers; ++layer) bytes += kv_layer_bytes(config, layer, n_ctx, type);
  return bytes;
}

// Index of the first of head_dim values: [n_kv_heads, n_ctx, head_dim].
inline size_t kv_offset(const ops::KvLayer& cache, int kv_head, int pos) {
  return (static_cast<size_t>(kv_head) * static_cast<size_t>(cache.n_ctx) + static_cast<size_t>(pos)) *
         static_cast<size_t>(cache.head_dim);
}

}  // namespace tern
