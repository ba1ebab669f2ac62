// The ternary layers of up to 32 tokens of a batch on subgroup matrices: int8 × int8 → int32, which is exact, so each
// row of results, and of statistics, has the bits that the kernels for one row give (norm_fused.h, ternary_qkv.h).
#pragma once

#include "backend/gpu/kernels/norm_fused.h"
#include "backend/gpu/kernels/ternary_qkv.h"
#include "backend/gpu/wgsl/subgroup_matrix.h"

namespace tern::gpu {

// There are few tokens, and so few tiles: what fills the GPU is that each tile's columns are shared out. A workgroup
// has two sides of shape.n rows of weights: neighbouring rows, gate and up, or the two halves of a head. Each pair of
// its subgroups, one for each side, multiplies every `splits`-th block of 128 columns, and the sums are added up at the
// end. Activations as weights go through workgroup memory: matrices that are loaded from storage come value by value on
// some drivers.
struct TernaryBatchConfig {
  uint32_t cols = 0;                    // a multiple of 4
  Activation act = Activation::kRelu2;  // of the glu kernel
  Caps caps;
  wgsl::MatrixShape shape;  // kI8ToI32; m is of tokens, n of rows
  uint32_t subgroup = 0;    // every subgroup's size
  uint32_t subgroups = 8;
  uint32_t tokens = 16;  // of a tile: one or two times shape.m
  uint32_t splits() const { return subgroups / 2; }
  uint32_t workgroup() const { return subgroup * subgroups; }
  uint32_t side_rows() const { return shape.n; }
  uint32_t tile_rows() const { return 2 * shape.n; }
  uint32_t workgroup_bytes() const;

  bool operator==(const TernaryBatchConfig&) const = default;
};

// Tokens that a tile may have, so that slots need room for whole tiles.
inline constexpr uint32_t kMostBatchTokens = 32;

// Whether there are such kernels for this layout.
bool has_ternary_batch(const TernaryBatchConfig& c);

// x: groups of rows of int8 words (normed_quantize), as many as whole tiles have. Grid of all: [⌈rows / what a
// workgroup has⌉, ⌈n_tokens / tokens⌉].
using StoredRows = wgsl::In<"x", QuantizedWords>;

using BatchMatvecAddKernel =
    wgsl::Kernel<wgsl::In<"w", TernaryWeights>, StoredRows, WeightScales, ParamsBuffer, wgsl::InOut<"y", wgsl::F32>,
                 NextGain, NextParts, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y += w · x, and the statistics of y by 2 shape.n rows. `rows`: of w.
BatchMatvecAddKernel batch_matvec_add(const TernaryBatchConfig& c, uint32_t rows);

using BatchGluKernel =
    wgsl::Kernel<wgsl::In<"w_gate", TernaryWeights>, wgsl::In<"w_up", TernaryWeights>, StoredRows, WeightScales,
                 ParamsBuffer, wgsl::Out<"y", wgsl::F32>, NextGain, NextParts, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y = act(gate·x) · (up·x), and the statistics of y by shape.n rows.
BatchGluKernel batch_glu(const TernaryBatchConfig& c, uint32_t rows);

template <class KvWord>
using BatchQkvKernel =
    wgsl::Kernel<wgsl::In<"w", TernaryWeights>, StoredRows, WeightScales, wgsl::In<"angles", wgsl::Vec2<wgsl::F32>>,
                 ParamsBuffer, wgsl::Out<"q", wgsl::F32>, wgsl::Out<"kv", KvWord>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// As ternary_qkv, with a workgroup for shape.n pairs of rows of a head.
template <class KvWord>
BatchQkvKernel<KvWord> batch_qkv(const TernaryBatchConfig& c, const HeadShape& heads, bool interleaved);
// Whether a head is whole workgroups, and groups of values that share a scale are not cut.
bool fits_batch_qkv(const TernaryBatchConfig& c, const HeadShape& heads, bool has_kv_scales);

}  // namespace tern::gpu
