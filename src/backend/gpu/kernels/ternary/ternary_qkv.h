// Query, key and value projections, RoPE, and the KV-cache write in one kernel.
#pragma once

#include "backend/gpu/kernels/kv_cache.h"
#include "backend/gpu/kernels/ternary/norm_fused.h"

namespace tern::gpu {

struct TernaryQkvConfig {
  uint32_t cols;
  HeadShape heads;
  bool interleaved = false;  // pairs are adjacent, not half a head apart
  Caps caps;
  uint32_t lanes = 8;
  uint32_t workgroup = 128;
  // Pairs of rows per workgroup, all of the same head.
  uint32_t pairs_per_workgroup() const { return workgroup / lanes; }
  uint32_t workgroups() const {
    return (heads.n_heads + 2 * heads.n_kv_heads) * (heads.head_dim / 2 / pairs_per_workgroup());
  }

  bool operator==(const TernaryQkvConfig&) const = default;
};

// The layout in terms of a matrix of rows.
TernaryConfig ternary_tiling(const TernaryQkvConfig& c);

// The largest layout for this shape: head_dim/2 is a multiple of a workgroup's pairs.
TernaryQkvConfig fit(TernaryQkvConfig c);
// The same for a cache of codes, with at most `invocations` invocations, for heads of at most 2 · invocations
// dimensions: a workgroup has whole groups of values that share a scale, and scales in whole words (kv_cache.h).
// c.workgroup is not read.
TernaryQkvConfig fit_to_codes(TernaryQkvConfig c, uint32_t invocations);

// w: the rows of wq, wk and wv, one after the other. angles: RopeAngles (heads.h).
template <class KvWord>
using TernaryQkvKernel =
    wgsl::Kernel<wgsl::In<"w", TernaryWeights>, wgsl::In<"x", QuantizedWords>, WeightScales,
                 wgsl::In<"angles", wgsl::Vec2<wgsl::F32>>, ParamsBuffer, wgsl::Out<"q", wgsl::F32>,
                 wgsl::Out<"kv", KvWord>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Grid: [workgroups(), n_tokens].
template <class KvWord>
TernaryQkvKernel<KvWord> ternary_qkv(const TernaryQkvConfig& c);

template <class KvWord>
using NormedQkvKernel = wgsl::Kernel<wgsl::In<"w", TernaryWeights>, NormX, NormGain, NormParts, WeightScales,
                                     wgsl::In<"angles", wgsl::Vec2<wgsl::F32>>, ParamsBuffer, wgsl::Out<"q", wgsl::F32>,
                                     wgsl::Out<"kv", KvWord>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// The same from floats that are normed and quantized on the way.
template <class KvWord>
NormedQkvKernel<KvWord> normed_qkv(const TernaryQkvConfig& c, const NormConfig& norm);

}  // namespace tern::gpu
