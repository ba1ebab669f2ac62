// Causal attention over the KV cache. A long history is split over several workgroups.
#pragma once

#include <string_view>

#include "backend/gpu/kernels/heads.h"
#include "backend/gpu/kernels/kv_cache.h"
#include "backend/gpu/kernels/ternary/norm_fused.h"

namespace tern::gpu {

struct AttentionConfig {
  HeadShape heads;
  Caps caps;
  uint32_t workgroup = 256;
  // chunk: positions that one workgroup handles at a time. max_splits: workgroups that share a head, at most (0: one
  // workgroup handles the whole history and writes the result itself).
  uint32_t chunk = 64;
  uint32_t max_splits = 0;
  uint32_t window = 0;  // positions that a token sees, its own included; 0: all
  float softcap = 0;    // scores s become softcap · tanh(s / softcap); 0: no cap

  uint32_t per_pos = 4;  // invocations that share a position's score
  uint32_t rounds = 1;   // positions of a chunk per invocation: at most per_pos; above 1 only in grouped_attention

  uint32_t partial_stride() const { return heads.head_dim + 2; }  // Σ e·v, then the largest score, then Σ e

  bool operator==(const AttentionConfig&) const = default;
};

// Weights stored per position while values are added up: one, or one per scale if values are codes.
template <class KvWord>
constexpr uint32_t kv_weights_per_position(uint32_t head_dim) {
  return kHasKvScales<KvWord> ? kv_scale_groups(head_dim) : 1;
}

// Adjusts the layout to this head size, with at most `c.workgroup` invocations. head_dim is a multiple of 4.
AttentionConfig fit(AttentionConfig c);

// q, out: [n_tokens, n_heads, head_dim]. A token sees the positions of its sequence up to its own, or the last `window`
// of them.
//
// Unsplit. Grid: [n_heads, n_tokens]. `out` is the result.
// Split.   Grid: [n_heads, n_tokens, splits]: workgroup z takes chunks z, z + splits, …, and `out` gets partial sums
//          [n_tokens, n_heads, max_splits, partial_stride()] for attention_merge, which expects the same number of
//          splits.
// Unsplit, the kernel also writes norm statistics, one part per head of a token (norm_fused.h).
template <class KvWord>
using AttentionKernel = wgsl::Kernel<wgsl::In<"q", wgsl::Vec4<wgsl::F32>>, wgsl::In<"kv", KvQuad<KvWord>>, ParamsBuffer,
                                     wgsl::Out<"y", wgsl::F32>, NextGain, NextParts, wgsl::WorkgroupId,
                                     wgsl::NumWorkgroups, wgsl::LocalIndex>;
template <class KvWord>
AttentionKernel<KvWord> attention(const AttentionConfig& c);

// Attention from the rows of all three projections, for one token of each sequence. Each workgroup computes its query
// and the token's key and value itself (heads.h). One workgroup per key and value writes them to the cache; the others
// read only earlier positions from it. Gives the same bits as qkv_heads and attention, but no norm statistics. Grid:
// [n_heads, n_tokens], or [n_heads, n_tokens, splits] with `out` as above.
template <class KvWord>
using HeadsAttentionKernel =
    wgsl::Kernel<QkvRows, QueryGain, KeyGain, RopeAngles, ParamsBuffer, wgsl::InOut<"kv", KvQuad<KvWord>>,
                 wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
template <class KvWord>
HeadsAttentionKernel<KvWord> heads_attention(const AttentionConfig& c, const HeadsConfig& h);
// True if the layout has enough invocations and fits into `workgroup_bytes` of workgroup memory.
template <class KvWord>
bool has_heads_attention(const AttentionConfig& c, const HeadsConfig& h, uint32_t workgroup_bytes);

using AttentionMergeKernel = wgsl::Kernel<wgsl::In<"parts", wgsl::F32>, ParamsBuffer, wgsl::Out<"y", wgsl::F32>,
                                          NextGain, NextParts, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Computes the result and its norm statistics from the partial sums. Grid: [n_heads, n_tokens]. Assumes one split per
// chunk up to the token's own position, at most max_splits.
AttentionMergeKernel attention_merge(const AttentionConfig& c);

using SinkMergeKernel = wgsl::Kernel<wgsl::In<"parts", wgsl::F32>, ParamsBuffer, wgsl::In<"sinks", wgsl::F32>,
                                     wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// The same with one more score for each head, which has no value; without statistics.
inline constexpr std::string_view kSinkMergeName = "attention_merge_sinks";
SinkMergeKernel attention_merge_sinks(const AttentionConfig& c);

}  // namespace tern::gpu
