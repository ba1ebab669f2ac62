// Attention in which a workgroup processes several heads that share keys and values.
#pragma once

#include "backend/gpu/kernels/attention/attention.h"

namespace tern::gpu {

// Heads per workgroup, all or a part of those that share a key, at most seven. 1: not worth a kernel.
uint32_t heads_together(const HeadShape& heads);
// True if the layout fits into `workgroup_bytes` of workgroup memory.
template <class KvWord>
bool has_grouped_attention(const AttentionConfig& c, uint32_t workgroup_bytes);

// Like attention (attention.h), with the same layout and the same number of splits, but each key and value is read once
// for all heads of the workgroup. Grid: [n_heads / heads_together, n_tokens], or [n_heads / heads_together, n_tokens,
// splits].
template <class KvWord>
AttentionKernel<KvWord> grouped_attention(const AttentionConfig& c);

}  // namespace tern::gpu
