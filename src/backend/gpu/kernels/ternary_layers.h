// All layers of a ternary model for one token in one dispatch, whose workgroups stay until the end (layers_shape.h).
#pragma once

#include "backend/gpu/kernels/layers_shape.h"
#include "backend/gpu/kernels/ternary_linear.h"

namespace tern::gpu {

struct TernaryLayersConfig : LayersShape {
  uint32_t qkv_lanes = 16, square_lanes = 16, glu_lanes = 8, wide_lanes = 16;  // invocations that share a row
  uint32_t most_ahead = 16;  // vec4s of weights that an invocation asks for before it waits for activations

  // Where a layer's matrices are in `w`, in vec4s: those of layer 0, and how far the next layer's are behind them.
  uint32_t qkv_at = 0, output_at = 0, gate_at = 0, up_at = 0, down_at = 0, layer_vectors = 0;

  // One behind the other, each from a multiple of `unit` vec4s on. False where they are too large to be counted.
  bool place_matrices(uint32_t unit) {
    uint64_t at = 0;
    const auto next = [&](uint64_t rows, uint32_t cols) {
      const auto first = static_cast<uint32_t>(at);
      at = (at + rows * (whole_blocks(cols) / 64) + unit - 1) / unit * unit;
      return first;
    };
    qkv_at = next(qkv_width(), d_model);
    output_at = next(d_model, q_width());
    gate_at = next(d_ff, d_model);
    up_at = next(d_ff, d_model);
    down_at = next(d_model, d_ff);
    layer_vectors = static_cast<uint32_t>(at);
    return at * n_layers <= UINT32_MAX;
  }

  // `vectors`, for each layer: the gains of the four norms in their order, then the scales of q, k, v, output, gate, up
  // and down, and one that is not used.
  static constexpr uint32_t kScales = 8;
  uint32_t qkv_gain() const { return 0; }
  uint32_t output_gain() const { return d_model; }
  uint32_t glu_gain() const { return output_gain() + q_width(); }
  uint32_t down_gain() const { return glu_gain() + d_model; }
  uint32_t scales() const { return down_gain() + d_ff; }
  uint32_t layer_values() const { return scales() + kScales; }

  uint32_t widest_row() const { return std::max({d_model, d_ff, q_width()}); }

  bool operator==(const TernaryLayersConfig&) const = default;
};

// x: the token's row, before the first layer and after the last. kv: of all layers, one after the other; the key and
// value of the token's position are written. Grid: [n], n at least least_workgroups(), and as many as run at the same
// time.
using TernaryLayersKernel =
    wgsl::Kernel<wgsl::In<"w", TernaryWeights>, wgsl::In<"vectors", wgsl::F32>, wgsl::InOut<"x", wgsl::F32>,
                 wgsl::In<"angles", wgsl::Vec2<wgsl::F32>>, ParamsBuffer, wgsl::InOut<"kv", wgsl::Vec4<wgsl::F16x2>>,
                 wgsl::InOut<"words", wgsl::Atomic<wgsl::U32>>, wgsl::WorkgroupId, wgsl::NumWorkgroups,
                 wgsl::LocalIndex>;
TernaryLayersKernel ternary_layers(const TernaryLayersConfig& c);

uint32_t ternary_layers_workgroup_bytes(const TernaryLayersConfig& c);

}  // namespace tern::gpu
