// Attention and its preparation, for drivers that run shaders on a CPU. One subgroup processes a head, without barriers
// and workgroup memory, because both make such a driver switch between fibers.
#pragma once

#include "backend/gpu/kernels/heads.h"
#include "backend/gpu/kernels/kv_cache.h"

namespace tern::gpu {

// All subgroups have the size caps.subgroup, which is also the workgroup size of these kernels.
struct SerialAttentionConfig {
  HeadShape heads;
  Caps caps;
  uint32_t window = 0;  // positions that a token sees, its own included; 0: all
  float softcap = 0;    // scores s become softcap · tanh(s / softcap); 0: no cap

  bool operator==(const SerialAttentionConfig&) const = default;
};

template <class KvWord>
using SerialAttentionKernel =
    wgsl::Kernel<wgsl::In<"q", wgsl::Vec4<wgsl::F32>>, wgsl::In<"kv", KvQuad<KvWord>>, ParamsBuffer,
                 wgsl::Out<"y", wgsl::Vec4<wgsl::F32>>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Like attention (attention.h), unsplit and without norm statistics. Grid: [n_heads, n_tokens].
template <class KvWord>
SerialAttentionKernel<KvWord> serial_attention(const SerialAttentionConfig& c);

template <class KvWord>
using SerialHeadsKernel = wgsl::Kernel<QkvRows, QueryGain, KeyGain, RopeAngles, ParamsBuffer, wgsl::Out<"q", wgsl::F32>,
                                       wgsl::Out<"kv", KvWord>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Like qkv_heads (qkv_heads.h). Grid: [c.rows(), n_tokens].
template <class KvWord>
SerialHeadsKernel<KvWord> serial_heads(const HeadsConfig& c);

}  // namespace tern::gpu
