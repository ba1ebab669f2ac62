// Attention, and what leads up to it, for drivers that run shaders on a CPU: a head is the work of one subgroup, and
// nothing waits at a barrier or goes through workgroup memory, for both cost such a driver a switch of its fibers.
#pragma once

#include "backend/gpu/kernels/heads.h"
#include "backend/gpu/kernels/kv_cache.h"

namespace tern::gpu {

// Subgroups of one size, caps.subgroup, which is the workgroup of these kernels.
struct SerialAttentionConfig {
  HeadShape heads;
  Caps caps;
  uint32_t window = 0;  // positions that a token sees, its own included; 0: all
  float softcap = 0;    // scores s become softcap · tanh(s / softcap); 0: as they are

  bool operator==(const SerialAttentionConfig&) const = default;
};

template <class KvWord>
using SerialAttentionKernel =
    wgsl::Kernel<wgsl::In<"q", wgsl::Vec4<wgsl::F32>>, wgsl::In<"kv", KvQuad<KvWord>>, ParamsBuffer,
                 wgsl::Out<"y", wgsl::Vec4<wgsl::F32>>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// As attention (attention.h), unsplit and without norm statistics. Grid: [n_heads, n_tokens].
template <class KvWord>
SerialAttentionKernel<KvWord> serial_attention(const SerialAttentionConfig& c);

template <class KvWord>
using SerialHeadsKernel = wgsl::Kernel<QkvRows, QueryGain, KeyGain, RopeAngles, ParamsBuffer, wgsl::Out<"q", wgsl::F32>,
                                       wgsl::Out<"kv", KvWord>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// As qkv_heads (qkv_heads.h). Grid: [c.rows(), n_tokens].
template <class KvWord>
SerialHeadsKernel<KvWord> serial_heads(const HeadsConfig& c);

}  // namespace tern::gpu
