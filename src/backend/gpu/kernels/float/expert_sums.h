// The results of experts, from sums over a row: with a bias, with bounds, gated. Shared by all kernels of experts.
#pragma once

#include "backend/gpu/kernels/float/float_linear.h"

namespace tern::gpu {

// `before`: the rows of the experts before this one; `row`: of this one.
template <class Linear>
wgsl::Name<wgsl::F32> expert_sum(const OfExperts<Linear>& c, const wgsl::Name<wgsl::F32>& sum, const ExpertBias& bias,
                                 const wgsl::Name<wgsl::U32>& before, const wgsl::Name<wgsl::U32>& row,
                                 uint32_t skipped = 0) {
  if (!c.has_bias) return sum;
  return wgsl::let("biased", sum + bias[before + row + skipped]);
}

// The biases of `up` follow those of all gates.
template <class Linear>
wgsl::Temp<wgsl::F32> expert_gated(const OfExperts<Linear>& c, uint32_t n_experts, const wgsl::Name<wgsl::F32>& gate,
                                   const wgsl::Name<wgsl::F32>& up, const ExpertBias& bias,
                                   const wgsl::Name<wgsl::U32>& before, const wgsl::Name<wgsl::U32>& row) {
  using wgsl::let;
  auto g = expert_sum(c, gate, bias, before, row), u = expert_sum(c, up, bias, before, row, n_experts * c.linear.rows);
  if (c.limit > 0) g = let("g", wgsl::min(g, c.limit)), u = let("u", wgsl::clamp(u, -c.limit, c.limit));
  return gated(c.linear.act, g, u);
}

}  // namespace tern::gpu
