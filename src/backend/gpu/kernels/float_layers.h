// All layers of a model with float activations and packed weights for one token in one dispatch, whose workgroups stay
// until the end (layers_shape.h).
#pragma once

#include <array>
#include <vector>

#include "backend/gpu/kernels/layers_shape.h"
#include "backend/gpu/kernels/packed_weights.h"

namespace tern::gpu {

struct FloatLayersConfig : LayersShape {
  // A matrix: where it begins in what its layer has of `w`, in vec4s, and of `scales`, in words.
  struct Matrix {
    WeightCoding coding = {};  // of codes
    uint32_t units_at = 0, scales_at = 0;
    bool operator==(const Matrix&) const = default;
  };
  // Layers whose matrices have the same codings, and so lie alike. Files in K formats have two or three kinds: some
  // layers' values and down projections have more bits than the others'.
  struct Kind {
    Matrix qk = {}, v = {}, output = {}, gate = {}, up = {}, down = {};  // queries and keys as one
    uint32_t units = 0, scales = 0;                                      // what such a layer has
    std::array<uint32_t, 4> layers = {};  // a bit for each; those of kinds[0] are not read
    bool has(uint32_t layer) const { return (layers[layer / 32] >> (layer % 32) & 1) != 0; }
    bool operator==(const Kind&) const = default;
  };
  std::vector<Kind> kinds = {};
  static constexpr uint32_t kMostKinds = 4, kMostLayersOfKinds = 128;  // of layers where there are several
  const Kind& kind_of(uint32_t layer) const;
  // Whether values are a product of their own: in some layer they have another coding than queries and keys.
  bool has_v_alone() const;

  float head_eps = 0;
  bool heads_normed = false;

  uint32_t lanes = 16;      // invocations that share a row, where it has so many units
  uint32_t most_ahead = 8;  // vec4s of weights that an invocation asks for before it waits for activations

  // One matrix behind the other, each from a multiple of `bytes` on, but values right behind keys of the same coding.
  // False where they are too large to be counted.
  bool place_matrices(uint32_t bytes);
  uint64_t of_all_layers(uint32_t Kind::* number) const;  // Kind::units or Kind::scales, added up

  // `vectors`, for each layer: the gains of its two norms, then those of the heads' if there are any.
  uint32_t qkv_gain() const { return 0; }
  uint32_t glu_gain() const { return d_model; }
  uint32_t q_gain() const { return 2 * d_model; }
  uint32_t k_gain() const { return q_gain() + heads.head_dim; }
  uint32_t layer_values() const { return 2 * d_model + (heads_normed ? 2 * heads.head_dim : 0); }

  bool operator==(const FloatLayersConfig&) const = default;
};

// As ternary_layers. Grid: the same.
using FloatLayersKernel =
    wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, wgsl::In<"vectors", wgsl::F32>,
                 wgsl::InOut<"x", wgsl::F32>, wgsl::In<"angles", wgsl::Vec2<wgsl::F32>>, ParamsBuffer,
                 wgsl::InOut<"kv", wgsl::Vec4<wgsl::F16x2>>, wgsl::InOut<"words", wgsl::Atomic<wgsl::U32>>,
                 wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
FloatLayersKernel float_layers(const FloatLayersConfig& c);

bool fits(const FloatLayersConfig& c);
uint32_t float_layers_workgroup_bytes(const FloatLayersConfig& c);

}  // namespace tern::gpu
