// From the rows of all three projections to the query and the KV cache: the norms of the heads, RoPE, and the write.
#pragma once

#include "backend/gpu/kernels/heads.h"

namespace tern::gpu {

template <class KvWord>
using QkvHeadsKernel = wgsl::Kernel<QkvRows, QueryGain, KeyGain, RopeAngles, ParamsBuffer, wgsl::Out<"q", wgsl::F32>,
                                    wgsl::Out<"kv", KvWord>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// q gets rope(norm(queries)), the cache rope(norm(keys)) and values at the positions of the batch's rows.
// Grid: [qkv_heads_workgroups(c), n_tokens].
template <class KvWord>
QkvHeadsKernel<KvWord> qkv_heads(const HeadsConfig& c);
uint32_t qkv_heads_workgroups(const HeadsConfig& c);

}  // namespace tern::gpu
