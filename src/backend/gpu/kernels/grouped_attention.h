// Attention by workgroups that have several heads that share keys and values.
#pragma once

#include "backend/gpu/kernels/attention.h"

namespace tern::gpu {

// Heads that a workgroup has: of those that share a key, all or a part, at most four. 1: not worth a kernel.
uint32_t heads_together(const HeadShape& heads);
// Whether a device with so much workgroup memory has the room that this layout takes.
template <class KvWord>
bool has_grouped_attention(const AttentionConfig& c, uint32_t workgroup_bytes);

// As attention (attention.h), from the same layout, and of its parts as many. Each key and value is read once for all
// heads of the workgroup. Grid: [n_heads / heads_together, n_tokens], or [n_heads / heads_together, n_tokens, splits].
template <class KvWord>
AttentionKernel<KvWord> grouped_attention(const AttentionConfig& c);

}  // namespace tern::gpu
