// Attention over the KV cache, causal, with the history split over workgroups where it is long.
#pragma once

#include "backend/gpu/kernels/heads.h"
#include "backend/gpu/kernels/kv_cache.h"
#include "backend/gpu/kernels/norm_fused.h"

namespace tern::gpu {

struct AttentionConfig {
  HeadShape heads;
  Caps caps;
  uint32_t workgroup = 256;
  // Positions that one workgroup handles at a time; and how many such chunks there are at most, which is how many
  // workgroups share a head (0: one does it all and writes the result itself).
  uint32_t chunk = 64;
  uint32_t max_splits = 0;
  uint32_t window = 0;  // positions that a token sees, its own included; 0: all
  float softcap = 0;    // scores s become softcap · tanh(s / softcap); 0: as they are

  uint32_t per_pos = 4;  // invocations that share a position's score
  uint32_t rounds = 1;   // positions of a chunk that each of them has; at most per_pos, and 1 but in groups of heads

  uint32_t partial_stride() const { return heads.head_dim + 2; }  // Σ e·v, then the greatest score, then Σ e

  bool operator==(const AttentionConfig&) const = default;
};

// What is kept of a position's weight while values are added up: a number; of codes, one for each scale.
template <class KvWord>
constexpr uint32_t kv_weights_per_position(uint32_t head_dim) {
  return kHasKvScales<KvWord> ? kv_scale_groups(head_dim) : 1;
}

// A layout for this head size within `c.workgroup` invocations. head_dim is a multiple of 4.
AttentionConfig fit(AttentionConfig c);

// q, out: [n_tokens, n_heads, head_dim]. A token sees the positions of its sequence up to its own, or the last `window`
// of them.
//
// Unsplit. Grid: [n_heads, n_tokens]. `out` is the result.
// Split.   Grid: [n_heads, n_tokens, splits]: workgroup z takes chunks z, z + splits, …, and `out` gets partial sums
//          [n_tokens, n_heads, max_splits, partial_stride()] for attention_merge, which takes as many splits.
// Unsplit, the norm statistics of a token's heads are its parts (norm_fused.h).
template <class KvWord>
using AttentionKernel = wgsl::Kernel<wgsl::In<"q", wgsl::Vec4<wgsl::F32>>, wgsl::In<"kv", KvQuad<KvWord>>, ParamsBuffer,
                                     wgsl::Out<"y", wgsl::F32>, NextGain, NextParts, wgsl::WorkgroupId,
                                     wgsl::NumWorkgroups, wgsl::LocalIndex>;
template <class KvWord>
AttentionKernel<KvWord> attention(const AttentionConfig& c);

// From the rows of all three projections, for one token of each sequence: each workgroup makes its query, and the
// token's key and value, itself (heads.h), and one for each of the latter writes them to the cache, from which the
// others read earlier positions only. The same bits as qkv_heads and attention, but no norm statistics. Grid: [n_heads,
// n_tokens], or [n_heads, n_tokens, splits] with `out` as above.
template <class KvWord>
using HeadsAttentionKernel =
    wgsl::Kernel<QkvRows, QueryGain, KeyGain, RopeAngles, ParamsBuffer, wgsl::InOut<"kv", KvQuad<KvWord>>,
                 wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
template <class KvWord>
HeadsAttentionKernel<KvWord> heads_attention(const AttentionConfig& c, const HeadsConfig& h);
// Whether the layout has the invocations, and a device with so much workgroup memory the room, that it takes.
template <class KvWord>
bool has_heads_attention(const AttentionConfig& c, const HeadsConfig& h, uint32_t workgroup_bytes);

using AttentionMergeKernel = wgsl::Kernel<wgsl::In<"parts", wgsl::F32>, ParamsBuffer, wgsl::Out<"y", wgsl::F32>,
                                          NextGain, NextParts, wgsl::WorkgroupId, wgsl::LocalIndex>;
// The result and its norm statistics from the partial sums. Grid: [n_heads, n_tokens]. Takes one split per chunk up to
// the token's own position, at most max_splits.
AttentionMergeKernel attention_merge(const AttentionConfig& c);

}  // namespace tern::gpu
