// Ternary matrix times many int8 rows: what ternary_linear.h does, for prefill batches.
#pragma once

#include "backend/gpu/kernels/ternary/ternary_linear.h"

namespace tern::gpu {

// A workgroup of 16 × 16 invocations computes a tile of rows × tokens. Weights and activations are staged in workgroup
// memory in blocks of 128 columns. Each invocation holds rows/16 × tokens/16 sums in registers.
struct TernaryMatmulConfig {
  uint32_t rows, cols;  // cols a multiple of 4
  Store store = Store::kSet;
  Activation act = Activation::kRelu2;  // of the glu kernel
  Caps caps;
  uint32_t tile_rows = 64;
  uint32_t tile_tokens = 64;
  static constexpr uint32_t kSide = 16;

  bool operator==(const TernaryMatmulConfig&) const = default;
};

using TernaryMatmulKernel =
    wgsl::Kernel<wgsl::In<"w", TernaryWeights>, wgsl::In<"x", QuantizedWords>, WeightScales, ParamsBuffer,
                 wgsl::InOut<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Grid: [⌈rows / tile_rows⌉, ⌈n_tokens / tile_tokens⌉].
TernaryMatmulKernel ternary_matmul(const TernaryMatmulConfig& c);

using TernaryGluMatmulKernel =
    wgsl::Kernel<wgsl::In<"w_gate", TernaryWeights>, wgsl::In<"w_up", TernaryWeights>, wgsl::In<"x", QuantizedWords>,
                 WeightScales, ParamsBuffer, wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y = act(gate·x) · (up·x). Grid as above.
TernaryGluMatmulKernel ternary_glu_matmul(const TernaryMatmulConfig& c);

}  // namespace tern::gpu
