// float_matmul.h on subgroup matrices: f16 × f16 → f32. Weights and activations are rounded to f16, 2^-11 of each; so
// that nothing is out of its range, a token's activations are multiplied by a power of two before, and the results
// divided by it.
#pragma once

#include "backend/gpu/kernels/float_matmul.h"
#include "backend/gpu/kernels/prompt_tile.h"

namespace tern::gpu {

inline constexpr uint32_t kMostTileTokens = 128;

// A workgroup computes a tile of tokens × rows; each subgroup has a part of the tile, or shares it. Block by block of
// columns weights are staged in workgroup memory as f16, for matrices B[columns, rows], and so are activations, for
// matrices A[tokens, columns], which a kernel of their own has made f16.
struct FloatMatrixMatmulConfig {
  uint32_t rows;  // of y
  uint32_t cols;  // whole units of the coding, and a multiple of 32
  WeightCoding coding;
  WeightCoding up_coding = {};  // of the glu kernel's second matrix
  Store store = Store::kSet;
  Activation act = Activation::kRelu2;  // of the glu kernel
  wgsl::MatrixShape shape;              // kF16ToF32; m is of tokens, n of rows
  uint32_t subgroup;                    // every subgroup's size
  PromptTile tile = {};
  bool of_logits = false;                   // x has the rows whose logits are wanted
  uint32_t tile_rows = 0, tile_tokens = 0;  // the former of each matrix; fit sets both
  uint32_t workgroup() const { return subgroup * tile.subgroup_rows * tile.subgroup_tokens * tile.splits; }
  // Of workgroup memory; n_matrices is 2 for the glu kernel.
  uint32_t workgroup_bytes(uint32_t n_matrices) const;

  bool operator==(const FloatMatrixMatmulConfig&) const = default;
};

// With the tile's sizes.
FloatMatrixMatmulConfig fit(FloatMatrixMatmulConfig c);

// The shapes that there are kernels for.
bool has_float_matrix_matmul(const wgsl::MatrixShape& shape);

// Halves: x as f16, each token multiplied by a power of two (in `token_scales`) that brings its greatest magnitude to
// 1024 … 2048. Grid: [1, n_tokens].
struct HalveTokensConfig {
  uint32_t width;  // a multiple of 16
  Caps caps;
  uint32_t workgroup = 256;
  // From this row on, a multiple of 16, the same rows again with what the first 11 bits leave: together 22 bits. 0:
  // only the first.
  uint32_t rest_at = 0;
  float eps = 0;  // of the norm, where there is one

  bool operator==(const HalveTokensConfig&) const = default;
};
// Halves lie in groups of 16 rows, and of each 16 columns the values of all rows together, row by row, so that what a
// subgroup matrix is loaded from lies together. Where a row begins, and where in it a column is:
inline constexpr uint32_t kHalvesOfGroup = 16;
template <class Row>
auto grouped_half(uint32_t cols, const Row& row) {
  return row / kRowsOfGroup * (kRowsOfGroup * cols) + row % kRowsOfGroup * kHalvesOfGroup;
}
constexpr uint32_t grouped_column(uint32_t column) {
  return column / kHalvesOfGroup * (kHalvesOfGroup * kRowsOfGroup) + column % kHalvesOfGroup;
}
// The i-th quad of a block of so many columns of several rows, in the order in which they are stored, so that
// neighbouring invocations have neighbouring quads: which row and column, and how many quads behind the row's first.
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

// The same of x normed: x / √(mean of its squares + eps) · gain.
using NormHalvesKernel =
    wgsl::Kernel<FloatX, wgsl::In<"gain", wgsl::Vec4<wgsl::F32>>, wgsl::Out<"halves", wgsl::Vec4<wgsl::F16>>,
                 wgsl::Out<"token_scales", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
NormHalvesKernel norm_halves(const HalveTokensConfig& c);

// Groups of whole tiles of tokens: there must be memory for them.
using Halves = wgsl::In<"x", wgsl::Vec4<wgsl::F16>>;
using TokenScales = wgsl::In<"token_scales", wgsl::F32>;
using FloatMatrixMatmulKernel =
    wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, Halves, TokenScales, RowRange, ParamsBuffer,
                 wgsl::InOut<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// As float_matmul and float_glu_matmul. Grids: [⌈count / tile_rows⌉, ⌈n_tokens / tile_tokens⌉].
FloatMatrixMatmulKernel float_matmul_matrix(const FloatMatrixMatmulConfig& c);

using FloatGluMatrixMatmulKernel =
    wgsl::Kernel<wgsl::In<"w_gate", WeightUnits>, wgsl::In<"gate_scales", wgsl::U32>, wgsl::In<"w_up", WeightUnits>,
                 wgsl::In<"up_scales", wgsl::U32>, Halves, TokenScales, ParamsBuffer, wgsl::Out<"y", wgsl::F32>,
                 wgsl::WorkgroupId, wgsl::LocalIndex>;
FloatGluMatrixMatmulKernel float_glu_matmul_matrix(const FloatMatrixMatmulConfig& c);

}  // namespace tern::gpu
