// Mixtures of experts: the choice of experts, and the sum of their results. Their matrices: float/float_linear.h.
//
// A row of `chosen` has the numbers of n_used experts, in descending order of their scores, and then their weights.
#pragma once

#include "backend/gpu/kernels/elementwise.h"

namespace tern::gpu {

struct RouteConfig {
  uint32_t n_experts, n_used;
  bool weighs_chosen;  // ExpertConfig::weighs_chosen
  uint32_t workgroup;
  bool has_scale = false;  // else `expert_scale` is not read

  bool operator==(const RouteConfig&) const = default;
};
using RouteKernel = wgsl::Kernel<wgsl::In<"scores", wgsl::F32>, wgsl::In<"expert_scale", wgsl::F32>,
                                 wgsl::Out<"chosen", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Each invocation counts the experts that come before its own. Grid: [1, tokens].
RouteKernel route(const RouteConfig& c);

struct MixConfig {
  uint32_t width, n_used;
  bool has_shared;  // else `shared` and `gate` are not read
  Store store = Store::kSet;

  bool operator==(const MixConfig&) const = default;
};
using MixExpertsKernel =
    wgsl::Kernel<wgsl::In<"x", wgsl::F32>, wgsl::In<"chosen", wgsl::F32>, wgsl::In<"shared_x", wgsl::F32>,
                 wgsl::In<"gate", wgsl::F32>, wgsl::InOut<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// One invocation per value of a row. Grid: [⌈width / 128⌉, tokens].
MixExpertsKernel mix_experts(const MixConfig& c);

}  // namespace tern::gpu
