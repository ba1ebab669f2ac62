// Activations as f16, for products on subgroup matrices. To stay in f16's range, a token's activations are multiplied
// by a power of two.
#pragma once

#include "backend/gpu/kernels/float/float_linear.h"

namespace tern::gpu {

// Writes x as f16, with each token multiplied by a power of two that brings its largest magnitude to 1024 … 2048.
// `token_scales` receives these factors. Grid: [per_token, n_tokens].
struct HalveTokensConfig {
  uint32_t width;  // a multiple of 16
  Caps caps;
  uint32_t workgroup = 256;
  // Starting at this row, a multiple of 16, the same rows are stored again with the rest that the first 11 bits leave,
  // which gives 22 bits in total. 0: no rest.
  uint32_t rest_at = 0;
  float eps = 0;           // of the norm, if there is one
  uint32_t per_token = 1;  // rows that each token has, one after another

  bool operator==(const HalveTokensConfig&) const = default;
};
// f16 rows are stored in groups of 16: for each 16 columns the values of all rows, row by row, so that the data of a
// subgroup matrix is contiguous. grouped_half: where a row begins. grouped_column: a column's offset in it.
inline constexpr uint32_t kHalvesOfGroup = 16;
template <class Row>
auto grouped_half(uint32_t cols, const Row& row) {
  return row / kRowsOfGroup * (kRowsOfGroup * cols) + row % kRowsOfGroup * kHalvesOfGroup;
}
constexpr uint32_t grouped_column(uint32_t column) {
  return column / kHalvesOfGroup * (kHalvesOfGroup * kRowsOfGroup) + column % kHalvesOfGroup;
}
// The i-th quad, in storage order, of a block of `columns` columns of several rows, so that adjacent invocations take
// adjacent quads: its row and column, and its distance from the row's first quad, in quads.
struct GroupedQuad {
  wgsl::Name<wgsl::U32> row, column, behind;
};
inline GroupedQuad grouped_quad(const wgsl::Name<wgsl::U32>& i, uint32_t columns) {
  constexpr uint32_t kQuadsOfRow = kHalvesOfGroup / 4, kGroup = kRowsOfGroup * kQuadsOfRow;
  const uint32_t groups = columns / kHalvesOfGroup;
  auto row = wgsl::let("x_row", i / (kGroup * groups) * kRowsOfGroup + i / kQuadsOfRow % kRowsOfGroup);
  auto column = wgsl::let("x_column", i / kGroup % groups * kHalvesOfGroup + i % kQuadsOfRow * 4u);
  auto behind = wgsl::let("x_behind", i / kGroup % groups * kGroup + i % kQuadsOfRow);
  return {row, column, behind};
}
using HalveTokensKernel = wgsl::Kernel<FloatX, wgsl::Out<"halves", wgsl::Vec4<wgsl::F16>>,
                                       wgsl::Out<"token_scales", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
HalveTokensKernel halve_tokens(const HalveTokensConfig& c);

// The same for x normed: x / √(mean of its squares + eps) · gain.
using NormHalvesKernel =
    wgsl::Kernel<FloatX, wgsl::In<"gain", wgsl::Vec4<wgsl::F32>>, wgsl::Out<"halves", wgsl::Vec4<wgsl::F16>>,
                 wgsl::Out<"token_scales", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
NormHalvesKernel norm_halves(const HalveTokensConfig& c);

}  // namespace tern::gpu
