// The ternary layers for up to 32 tokens of a batch on subgroup matrices: int8 × int8 → int32, which is exact. So each
// row of results and of statistics has the same bits as with the kernels for one row (norm_fused.h, ternary_qkv.h).
#pragma once

#include "backend/gpu/kernels/ternary/norm_fused.h"
#include "backend/gpu/kernels/ternary/ternary_qkv.h"
#include "backend/gpu/wgsl/subgroup_matrix.h"

namespace tern::gpu {

// Few tokens make few tiles, so each tile's columns are divided to fill the GPU. A workgroup has two sides of shape.n
// rows of weights: adjacent rows, gate and up, or the two halves of a head. It has pairs of subgroups, one subgroup for
// each side. Each pair multiplies every `splits`-th block of 128 columns, and the sums are added up at the end. Both
// activations and weights are staged in workgroup memory, because some drivers load matrices from storage value by
// value.
struct TernaryBatchConfig {
  uint32_t cols = 0;                    // a multiple of 4
  Activation act = Activation::kRelu2;  // of the glu kernel
  Caps caps;
  wgsl::MatrixShape shape;  // kI8ToI32; m counts tokens, n rows
  uint32_t subgroup = 0;    // the size of every subgroup
  uint32_t subgroups = 8;
  uint32_t tokens = 16;  // per tile: one or two times shape.m
  uint32_t splits() const { return subgroups / 2; }
  uint32_t workgroup() const { return subgroup * subgroups; }
  uint32_t side_rows() const { return shape.n; }
  uint32_t tile_rows() const { return 2 * shape.n; }
  uint32_t workgroup_bytes() const;

  bool operator==(const TernaryBatchConfig&) const = default;
};

// The largest number of tokens in a tile. Slots need room for whole tiles.
inline constexpr uint32_t kMostBatchTokens = 32;

// True if the kernels support this layout.
bool has_ternary_batch(const TernaryBatchConfig& c);

// x: groups of rows of int8 words (normed_quantize), enough for whole tiles. Grid of all kernels: [⌈rows / rows of a
// workgroup⌉, ⌈n_tokens / tokens⌉].
using StoredRows = wgsl::In<"x", QuantizedWords>;

using BatchMatvecAddKernel =
    wgsl::Kernel<wgsl::In<"w", TernaryWeights>, StoredRows, WeightScales, ParamsBuffer, wgsl::InOut<"y", wgsl::F32>,
                 NextGain, NextParts, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y += w · x, and the statistics of y, one part per 2 shape.n rows. `rows`: rows of w.
BatchMatvecAddKernel batch_matvec_add(const TernaryBatchConfig& c, uint32_t rows);

using BatchGluKernel =
    wgsl::Kernel<wgsl::In<"w_gate", TernaryWeights>, wgsl::In<"w_up", TernaryWeights>, StoredRows, WeightScales,
                 ParamsBuffer, wgsl::Out<"y", wgsl::F32>, NextGain, NextParts, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y = act(gate·x) · (up·x), and the statistics of y, one part per shape.n rows.
BatchGluKernel batch_glu(const TernaryBatchConfig& c, uint32_t rows);

template <class KvWord>
using BatchQkvKernel =
    wgsl::Kernel<wgsl::In<"w", TernaryWeights>, StoredRows, WeightScales, wgsl::In<"angles", wgsl::Vec2<wgsl::F32>>,
                 ParamsBuffer, wgsl::Out<"q", wgsl::F32>, wgsl::Out<"kv", KvWord>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Like ternary_qkv, with one workgroup per shape.n pairs of rows of a head.
template <class KvWord>
BatchQkvKernel<KvWord> batch_qkv(const TernaryBatchConfig& c, const HeadShape& heads, bool interleaved);
// True if workgroups divide a head evenly, and do not split groups of values that share a scale.
bool fits_batch_qkv(const TernaryBatchConfig& c, const HeadShape& heads, bool has_kv_scales);

}  // namespace tern::gpu
