// Post-processing of the rows of all three projections: head norms, RoPE, and the KV-cache write.
#pragma once

#include "backend/gpu/kernels/heads.h"

namespace tern::gpu {

template <class KvWord>
using QkvHeadsKernel = wgsl::Kernel<QkvRows, QueryGain, KeyGain, RopeAngles, ParamsBuffer, wgsl::Out<"q", wgsl::F32>,
                                    wgsl::Out<"kv", KvWord>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// q becomes rope(norm(queries)). rope(norm(keys)) and the values go to the cache, at the positions of the batch's rows.
// Grid: [qkv_heads_workgroups(c), n_tokens].
template <class KvWord>
QkvHeadsKernel<KvWord> qkv_heads(const HeadsConfig& c);
uint32_t qkv_heads_workgroups(const HeadsConfig& c);

}  // namespace tern::gpu
