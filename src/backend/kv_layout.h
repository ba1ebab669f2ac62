// Where a key or value lies in one layer of a host KV cache.
#pragma once

#include "backend/ops.h"

namespace tern {

// Index of the first of head_dim values: [n_kv_heads, n_ctx, head_dim].
inline size_t kv_offset(const ops::KvLayer& cache, int kv_head, int pos) {
  return (static_cast<size_t>(kv_head) * static_cast<size_t>(cache.n_ctx) + static_cast<size_t>(pos)) *
         static_cast<size_t>(cache.head_dim);
}

}  // namespace tern
