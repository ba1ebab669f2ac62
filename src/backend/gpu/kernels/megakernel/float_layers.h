// The megakernel for float activations and packed weights: computes all layers of a model for one token in one
// dispatch, whose workgroups run until the end (layers_shape.h).
#pragma once

#include <array>
#include <vector>

#include "backend/gpu/kernels/megakernel/layers_shape.h"
#include "backend/gpu/kernels/packed_weights.h"

namespace tern::gpu {

struct FloatLayersConfig : LayersShape {
  // A matrix: its offset in its layer's part of `w`, in vec4s, and of `scales`, in words.
  struct Matrix {
    WeightCoding coding = {};  // of the codes
    uint32_t units_at = 0, scales_at = 0;
    bool operator==(const Matrix&) const = default;
  };
  // Layers whose matrices have the same codings and so the same layout. Files in K formats have two or three kinds:
  // some layers' values and down projections have more bits than the others'.
  struct Kind {
    Matrix qk = {}, v = {}, output = {}, gate = {}, up = {}, down = {};  // qk: queries and keys as one matrix
    uint32_t units = 0, scales = 0;                                      // per layer of this kind
    std::array<uint32_t, 4> layers = {};  // a bit for each layer; those of kinds[0] are not read
    bool has(uint32_t layer) const { return (layers[layer / 32] >> (layer % 32) & 1) != 0; }
    bool operator==(const Kind&) const = default;
  };
  std::vector<Kind> kinds = {};
  static constexpr uint32_t kMostKinds = 4, kMostLayersOfKinds = 128;  // the latter if there are several kinds
  const Kind& kind_of(uint32_t layer) const;
  // True if values are a separate product because in some layer their coding differs from that of queries and keys.
  bool has_v_alone() const;

  float head_eps = 0;
  bool heads_normed = false;

  uint32_t lanes = 16;      // invocations that share a row, if it has that many units
  uint32_t most_ahead = 8;  // vec4s of weights that an invocation loads before it waits for activations

  // Places the matrices one after the other, each at a multiple of `bytes`, except that values follow keys of the same
  // coding directly. Returns false if the offsets do not fit 32 bits.
  bool place_matrices(uint32_t bytes);
  uint64_t of_all_layers(uint32_t Kind::* number) const;  // the sum of Kind::units or Kind::scales over all layers

  // `vectors` has, for each layer: the gains of its two norms, then those of the head norms, if any.
  uint32_t qkv_gain() const { return 0; }
  uint32_t glu_gain() const { return d_model; }
  uint32_t q_gain() const { return 2 * d_model; }
  uint32_t k_gain() const { return q_gain() + heads.head_dim; }
  uint32_t layer_values() const { return 2 * d_model + (heads_normed ? 2 * heads.head_dim : 0); }

  bool operator==(const FloatLayersConfig&) const = default;
};

// Interface and grid are those of ternary_layers.
using FloatLayersKernel =
    wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, wgsl::In<"vectors", wgsl::F32>,
                 wgsl::InOut<"x", wgsl::F32>, wgsl::In<"angles", wgsl::Vec2<wgsl::F32>>, ParamsBuffer,
                 wgsl::InOut<"kv", wgsl::Vec4<wgsl::F16x2>>, wgsl::InOut<"words", wgsl::Atomic<wgsl::U32>>,
                 wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
FloatLayersKernel float_layers(const FloatLayersConfig& c);

bool fits(const FloatLayersConfig& c);
uint32_t float_layers_workgroup_bytes(const FloatLayersConfig& c);

}  // namespace tern::gpu
