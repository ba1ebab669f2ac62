// How large a KV cache is, and where a key or value lies in one layer of a host's.
#pragma once

#include "backend/ops.h"

namespace tern {

constexpr uint64_t kv_value_bytes(KvType type) { return type == KvType::kF16 ? 2 : 4; }

// Keys and values of all layers for `n_ctx` tokens.
inline uint64_t kv_bytes(const Config& config, int n_ctx, KvType type) {
  return 2 * kv_value_bytes(type) * static_cast<uint64_t>(config.n_layers) * static_cast<uint64_t>(config.kv_width()) *
         static_cast<uint64_t>(n_ctx);
}

// Index of the first of head_dim values: [n_kv_heads, n_ctx, head_dim].
inline size_t kv_offset(const ops::KvLayer& cache, int kv_head, int pos) {
  return (static_cast<size_t>(kv_head) * static_cast<size_t>(cache.n_ctx) + static_cast<size_t>(pos)) *
         static_cast<size_t>(cache.head_dim);
}

}  // namespace tern
