// Prefill attention on subgroup matrices: scores = Q·Kᵀ, and weights·V, f16 × f16 → f32.
#pragma once

#include "backend/gpu/kernels/attention/attention.h"
#include "backend/gpu/wgsl/subgroup_matrix.h"

namespace tern::gpu {

// Queries and sums of a head stay in registers, so heads cannot be larger.
inline constexpr uint32_t kMostMatrixHead = 256;

struct MatrixAttentionConfig {
  HeadShape heads;          // head_dim is a multiple of shape.n, shape.k and 16
  wgsl::MatrixShape shape;  // kF16ToF32; m counts tokens
  uint32_t subgroup;        // the size of every subgroup, a multiple of shape.m
  uint32_t subgroups = 4;   // per workgroup; each has shape.m tokens of a head
  uint32_t chunk = 32;      // positions at a time; divides kBlockPositions
  uint32_t window = 0;      // positions that a token sees, its own included; 0: all
  float softcap = 0;        // as in AttentionConfig

  uint32_t workgroup() const { return subgroup * subgroups; }
  uint32_t tokens() const { return shape.m * subgroups; }
  uint32_t workgroup_bytes() const;

  bool operator==(const MatrixAttentionConfig&) const = default;
};

// True if there is a kernel for this shape and head within a workgroup's limits.
bool has_matrix_attention(const MatrixAttentionConfig& c, uint32_t invocations, uint32_t workgroup_bytes);

// What the kernel reads at once.
template <class KvWord>
using MatrixKvQuad = std::conditional_t<std::same_as<KvWord, wgsl::F16x2>, wgsl::Vec4<wgsl::F16>, KvQuad<KvWord>>;

// Like attention (attention.h), unsplit, but queries and weights are rounded to f16, and so are keys and values that
// are stored as codes. Tokens of several sequences may share a workgroup; the kernel is fast if each sequence has many
// tokens. KvWord: F16x2 or I8x4. Grid: [n_heads, ⌈n_tokens / tokens()⌉].
template <class KvWord>
using MatrixAttentionKernel = wgsl::Kernel<wgsl::In<"q", wgsl::Vec4<wgsl::F32>>, wgsl::In<"kv", MatrixKvQuad<KvWord>>,
                                           ParamsBuffer, wgsl::Out<"y", wgsl::F32>, NextGain, NextParts,
                                           wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
template <class KvWord>
MatrixAttentionKernel<KvWord> matrix_attention(const MatrixAttentionConfig& c);

// The same with one more score for each head, which has no value; without statistics.
template <class KvWord>
using SinkMatrixKernel = wgsl::Kernel<wgsl::In<"q", wgsl::Vec4<wgsl::F32>>, wgsl::In<"kv", MatrixKvQuad<KvWord>>,
                                      ParamsBuffer, wgsl::In<"sinks", wgsl::F32>, wgsl::Out<"y", wgsl::F32>,
                                      wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
template <class KvWord>
SinkMatrixKernel<KvWord> matrix_attention_sinks(const MatrixAttentionConfig& c);

}  // namespace tern::gpu
