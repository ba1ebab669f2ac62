// Workgroup memory of attention on subgroup matrices, and its softmax's slack. Included only by the files of its
// kernels.
#pragma once

#include <algorithm>

#include "backend/gpu/kernels/attention/matrix_attention.h"

namespace tern::gpu {

// Distance between rows in workgroup memory: 16 bytes of padding make rows start in different banks.
inline uint32_t stride_of_halves(uint32_t n) { return n + 8; }
inline uint32_t stride_of_floats(uint32_t n) { return n + 4; }

// Only the first is used. Matrices must begin at multiples of 16 bytes in workgroup memory, which holds if all arrays
// there are multiples of 16 bytes.
inline constexpr uint32_t kFlags = 4;

// Staged at the same place: queries; or keys and then values, [chunk, head_dim] each.
inline uint32_t staged_halves(const MatrixAttentionConfig& c) {
  return std::max(c.tokens(), 2 * c.chunk) * stride_of_halves(c.heads.head_dim);
}

// How far, in powers of two, a score may exceed the reference score m of the weights before the earlier sums are scaled
// down. Weights stay below 2^8, which an f16 holds as precisely as weights below 1.
inline constexpr float kSlack = 8;

}  // namespace tern::gpu
