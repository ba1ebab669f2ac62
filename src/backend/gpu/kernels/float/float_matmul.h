// Float matrices of any format times many f32 rows: what float_linear.h does, for prefill batches.
#pragma once

#include "backend/gpu/kernels/expert_tiles.h"
#include "backend/gpu/kernels/float/float_linear.h"

namespace tern::gpu {

// A workgroup of 16 × 16 invocations computes a tile of rows × tokens. Weights (as f32) and activations are staged in
// workgroup memory in blocks of 32 columns, four columns of adjacent rows side by side. Each invocation holds rows/16 ×
// tokens/16 sums in registers. The default tiles take 16 KiB, which every device has.
struct FloatMatmulConfig {
  uint32_t rows;  // of y
  uint32_t cols;  // a multiple of the coding's unit
  WeightCoding coding;
  WeightCoding up_coding = {};  // of the glu kernel's second matrix
  Store store = Store::kSet;
  Activation act = Activation::kRelu2;  // of the glu kernel
  uint32_t tile_rows = 64;              // of each matrix
  uint32_t tile_tokens = 64;
  static constexpr uint32_t kSide = 16;
  // Bytes of workgroup memory. n_matrices is 2 for the glu kernel.
  uint32_t workgroup_bytes(uint32_t n_matrices) const;

  bool operator==(const FloatMatmulConfig&) const = default;
};

// The binding holds range.count rows of the matrix. Their results start at range.first in y.
using FloatMatmulKernel = wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, FloatX, RowRange,
                                       ParamsBuffer, wgsl::InOut<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y = w·x or y += w·x. Grid: [⌈count / tile_rows⌉, ⌈n_tokens / tile_tokens⌉].
FloatMatmulKernel float_matmul(const FloatMatmulConfig& c);

using FloatGluMatmulKernel = wgsl::Kernel<wgsl::In<"w_gate", WeightUnits>, wgsl::In<"gate_scales", wgsl::U32>,
                                          wgsl::In<"w_up", WeightUnits>, wgsl::In<"up_scales", wgsl::U32>, FloatX,
                                          ParamsBuffer, wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y = act(gate·x) · (up·x), for whole matrices. Grid as above.
FloatGluMatmulKernel float_glu_matmul(const FloatMatmulConfig& c);

// Mixtures of experts: what expert_linear and expert_glu do, for tiles of c.linear.tile_tokens choices
// (expert_tiles.h). Grids: [⌈rows / tile_rows⌉, at least the number of tiles].
using ExpertMatmulConfig = OfExperts<FloatMatmulConfig>;
using ExpertMatmulKernel = wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, FloatX, ExpertTiles,
                                        ExpertBias, wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
ExpertMatmulKernel expert_matmul(const ExpertMatmulConfig& c);

using ExpertGluMatmulKernel =
    wgsl::Kernel<wgsl::In<"w_gate", WeightUnits>, wgsl::In<"gate_scales", wgsl::U32>, wgsl::In<"w_up", WeightUnits>,
                 wgsl::In<"up_scales", wgsl::U32>, FloatX, ExpertTiles, ExpertBias, wgsl::Out<"y", wgsl::F32>,
                 wgsl::WorkgroupId, wgsl::LocalIndex>;
ExpertGluMatmulKernel expert_glu_matmul(const ExpertMatmulConfig& c, uint32_t n_experts);

}  // namespace tern::gpu
