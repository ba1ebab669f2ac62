// Float matrices of any format times many f32 rows: what float_linear.h does, for prefill batches.
#pragma once

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

}  // namespace tern::gpu
