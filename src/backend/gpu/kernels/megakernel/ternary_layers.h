// The ternary megakernel: computes all layers of a model for one token in one dispatch, whose workgroups run until the
// end (layers_shape.h).
#pragma once

#include "backend/gpu/kernels/megakernel/layers_shape.h"
#include "backend/gpu/kernels/ternary/ternary_linear.h"

namespace tern::gpu {

struct TernaryLayersConfig : LayersShape {
  uint32_t qkv_lanes = 16, square_lanes = 16, glu_lanes = 8, wide_lanes = 16;  // invocations that share a row
  uint32_t most_ahead = 16;  // vec4s of weights that an invocation loads before it waits for activations

  // Offsets of layer 0's matrices in `w`, in vec4s, and the distance from one layer to the next.
  uint32_t qkv_at = 0, output_at = 0, gate_at = 0, up_at = 0, down_at = 0, layer_vectors = 0;

  // Places the matrices one after the other, each at a multiple of `unit` vec4s. Returns false if the offsets do not
  // fit 32 bits.
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

  // `vectors` has, for each layer: the gains of the four norms in order, then the scales of q, k, v, output, gate, up
  // and down, and an unused one.
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

// x: the token's row, before the first layer and after the last. kv: the caches of all layers, one after the other; the
// key and value of the token's position are written. Grid: [n], with n at least least_workgroups(), and at most the
// number of workgroups that run at the same time.
using TernaryLayersKernel =
    wgsl::Kernel<wgsl::In<"w", TernaryWeights>, wgsl::In<"vectors", wgsl::F32>, wgsl::InOut<"x", wgsl::F32>,
                 wgsl::In<"angles", wgsl::Vec2<wgsl::F32>>, ParamsBuffer, wgsl::InOut<"kv", wgsl::Vec4<wgsl::F16x2>>,
                 wgsl::InOut<"words", wgsl::Atomic<wgsl::U32>>, wgsl::WorkgroupId, wgsl::NumWorkgroups,
                 wgsl::LocalIndex>;
TernaryLayersKernel ternary_layers(const TernaryLayersConfig& c);

uint32_t ternary_layers_workgroup_bytes(const TernaryLayersConfig& c);

}  // namespace tern::gpu
