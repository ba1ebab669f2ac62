// Sizes of int8 subgroup matrices that devices support: kernels are templates over them.
#pragma once

#include "backend/gpu/wgsl/subgroup_matrix.h"

namespace tern::gpu {

// Calls use.operator()<M, N, K>() if there are kernels for this shape; returns whether there are.
template <class Use>
bool with_int8_shape(const wgsl::MatrixShape& shape, Use&& use) {
  if constexpr (wgsl::kHasMatrixKernels) {
    const auto is = [&](uint32_t m, uint32_t n, uint32_t k) {
      return shape == wgsl::MatrixShape{wgsl::MatrixTypes::kI8ToI32, m, n, k};
    };
    if (is(8, 8, 8)) return use.template operator()<8, 8, 8>(), true;        // lavapipe
    if (is(16, 16, 16)) return use.template operator()<16, 16, 16>(), true;  // AMD
    if (is(16, 16, 32)) return use.template operator()<16, 16, 32>(), true;  // NVIDIA
    if (is(8, 8, 32)) return use.template operator()<8, 8, 32>(), true;      // Intel
    if (is(8, 16, 32)) return use.template operator()<8, 16, 32>(), true;    // Intel
  }
  return false;
}

}  // namespace tern::gpu
