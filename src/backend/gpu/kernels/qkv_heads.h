// From the rows of all three projections to the query and the KV cache: the norms of the heads, RoPE, and the write.
#pragma once

#include "backend/gpu/kernels/kv_cache.h"

namespace tern::gpu {

struct QkvHeadsConfig {
  HeadShape heads;
  bool interleaved = false;  // pairs are neighbours, not half a head apart
  bool normed = false;       // heads of q and k have RMS norms; else the gains are not read
  float eps = 0;
  Caps caps;
  uint32_t workgroup = 64;
};

// qkv: [n_tokens, n_heads + 2 n_kv_heads, head_dim]. Gains: [head_dim]. angles: (cos, sin) of [n_ctx, head_dim/2].
template <class KvWord>
using QkvHeadsKernel =
    wgsl::Kernel<wgsl::In<"qkv", wgsl::F32>, wgsl::In<"q_gain", wgsl::F32>, wgsl::In<"k_gain", wgsl::F32>,
                 wgsl::In<"angles", wgsl::Vec2<wgsl::F32>>, ParamsBuffer, wgsl::Out<"q", wgsl::F32>,
                 wgsl::Out<"kv", KvWord>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// q gets rope(norm(queries)), the cache rope(norm(keys)) and values at the batch's positions.
// Grid: [n_heads + 2 n_kv_heads, n_tokens].
template <class KvWord>
QkvHeadsKernel<KvWord> qkv_heads(const QkvHeadsConfig& c);

}  // namespace tern::gpu
