// What kernels that choose tokens do beside choosing: they count steps, and make the token the next input.
#pragma once

#include "backend/gpu/kernels/common.h"

namespace tern::gpu {

// In a step's first kernel: no other workgroup looks at the step there.
inline void begin_step(const wgsl::InOut<"params", wgsl::U32>& params, const wgsl::WorkgroupId& wg,
                       const wgsl::LocalIndex& tid) {
  wgsl::when(wg.x == 0u && wg.y == 0u && tid == 0u, [&] { params[kStep] += 1u; });
}

// Where in a ring of [ring, rows] values the step has that of row wg.y.
inline wgsl::Name<wgsl::U32> place_in_ring(const wgsl::InOut<"params", wgsl::U32>& params, const wgsl::WorkgroupId& wg,
                                           uint32_t ring) {
  using namespace wgsl;
  auto step = let("step_now", params[kStep] - 1u);
  return let("in_ring", step % ring * params[kNTokens] + wg.y);
}

// In its last, by one invocation of row wg.y: the token goes into the ring of ids and is the row's next input, at the
// next position.
inline void feed_back(const wgsl::Name<wgsl::U32>& token, const wgsl::Name<wgsl::U32>& in_ring,
                      const wgsl::Out<"tokens", wgsl::U32>& tokens, const wgsl::Out<"ids", wgsl::U32>& ids,
                      const wgsl::InOut<"params", wgsl::U32>& params, const wgsl::WorkgroupId& wg) {
  tokens[wg.y] = token;
  ids[in_ring] = token;
  params[wg.y * kRowWords + (kFirstRow + kRowPos)] += 1u;
}

}  // namespace tern::gpu
