// The statistics that attention leaves for the norm of its output. Included only by the files of its kernels.
#pragma once

#include <utility>

#include "backend/gpu/kernels/attention/attention.h"

namespace tern::gpu {

// Reduces what all invocations added to `squares` and `largest`, and stores it as statistics part `index`, counted over
// all rows.
template <wgsl::ValueOf<wgsl::U32> Index>
void leave_stats(const Caps& caps, const wgsl::Var<wgsl::F32>& squares, const wgsl::Var<wgsl::F32>& largest,
                 const wgsl::LocalIndex& tid, uint32_t workgroup, const NextParts& parts, Index&& index) {
  using namespace wgsl;
  auto my_squares = let("my_squares", squares);
  auto my_largest = let("my_largest", largest);
  auto all_squares = reduce_workgroup(Reduce::kSum, caps, my_squares, tid, workgroup);
  auto all_largest = reduce_workgroup(Reduce::kMax, caps, my_largest, tid, workgroup);
  when(tid == 0u, [&] { parts[std::forward<Index>(index)] = vec2f(all_squares, all_largest); });
}

}  // namespace tern::gpu
