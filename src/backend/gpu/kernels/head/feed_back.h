// Shared by the kernels that choose tokens: they count steps and make the chosen token the next input.
#pragma once

#include "backend/gpu/kernels/common.h"

namespace tern::gpu {

// To be called in a step's first kernel, where no other workgroup reads the step.
inline void begin_step(const wgsl::InOut<"params", wgsl::U32>& params, const wgsl::WorkgroupId& wg,
                       const wgsl::LocalIndex& tid) {
  wgsl::when(wg.x == 0u && wg.y == 0u && tid == 0u, [&] { params[kStep] += 1u; });
}

// The index of row wg.y in a ring of [ring, rows] values, for the current step.
inline wgsl::Name<wgsl::U32> place_in_ring(const wgsl::InOut<"params", wgsl::U32>& params, const wgsl::WorkgroupId& wg,
                                           uint32_t ring) {
  using namespace wgsl;
  auto step = let("step_now", params[kStep] - 1u);
  return let("in_ring", step % ring * params[kNTokens] + wg.y);
}

// To be called in a step's last kernel, by one invocation of row wg.y: stores the token in the ring of ids and makes it
// the row's input at the next position.
inline void feed_back(const wgsl::Name<wgsl::U32>& token, const wgsl::Name<wgsl::U32>& in_ring,
                      const wgsl::Out<"tokens", wgsl::U32>& tokens, const wgsl::Out<"ids", wgsl::U32>& ids,
                      const wgsl::InOut<"params", wgsl::U32>& params, const wgsl::WorkgroupId& wg) {
  tokens[wg.y] = token;
  ids[in_ring] = token;
  params[wg.y * kRowWords + (kFirstRow + kRowPos)] += 1u;
}

}  // namespace tern::gpu
