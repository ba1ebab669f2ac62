// float_matmul.h on subgroup matrices: f16 × f16 → f32. Weights and activations are rounded to f16, with a relative
// error of 2^-11. To stay in f16's range, a token's activations are first multiplied by a power of two; the results are
// divided by it.
#pragma once

#include "backend/gpu/kernels/float/float_matmul.h"
#include "backend/gpu/kernels/prompt_tile.h"

namespace tern::gpu {

inline constexpr uint32_t kMostTileTokens = 128;

// A workgroup computes a tile of tokens × rows; each subgroup computes a part of the tile, or shares one. Blocks of
// columns are staged in workgroup memory as f16: weights for matrices B[columns, rows], and activations for matrices
// A[tokens, columns]. A separate kernel converts the activations to f16.
struct FloatMatrixMatmulConfig {
  uint32_t rows;  // of y
  uint32_t cols;  // a multiple of the coding's unit and of 32
  WeightCoding coding;
  WeightCoding up_coding = {};  // of the glu kernel's second matrix
  Store store = Store::kSet;
  Activation act = Activation::kRelu2;  // of the glu kernel
  wgsl::MatrixShape shape;              // kF16ToF32; m counts tokens, n rows
  uint32_t subgroup;                    // the size of every subgroup
  PromptTile tile = {};
  bool of_logits = false;                   // x has the rows whose logits are wanted
  uint32_t tile_rows = 0, tile_tokens = 0;  // tile_rows: of each matrix; fit() sets both
  uint32_t workgroup() const { return subgroup * tile.subgroup_rows * tile.subgroup_tokens * tile.splits; }
  // Bytes of workgroup memory. n_matrices is 2 for the glu kernel.
  uint32_t workgroup_bytes(uint32_t n_matrices) const;

  bool operator==(const FloatMatrixMatmulConfig&) const = default;
};

// Sets the tile's sizes.
FloatMatrixMatmulConfig fit(FloatMatrixMatmulConfig c);

// True if there are kernels for this shape.
bool has_float_matrix_matmul(const wgsl::MatrixShape& shape);

// Writes x as f16, with each token multiplied by a power of two that brings its largest magnitude to 1024 … 2048.
// `token_scales` receives these factors. Grid: [1, n_tokens].
struct HalveTokensConfig {
  uint32_t width;  // a multiple of 16
  Caps caps;
  uint32_t workgroup = 256;
  // Starting at this row, a multiple of 16, the same rows are stored again with the rest that the first 11 bits leave,
  // which gives 22 bits in total. 0: no rest.
  uint32_t rest_at = 0;
  float eps = 0;  // of the norm, if there is one

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

// Must have memory for whole tiles of tokens.
using Halves = wgsl::In<"x", wgsl::Vec4<wgsl::F16>>;
using TokenScales = wgsl::In<"token_scales", wgsl::F32>;
using FloatMatrixMatmulKernel =
    wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, Halves, TokenScales, RowRange, ParamsBuffer,
                 wgsl::InOut<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Interfaces like float_matmul and float_glu_matmul. Grids: [⌈count / tile_rows⌉, ⌈n_tokens / tile_tokens⌉].
FloatMatrixMatmulKernel float_matmul_matrix(const FloatMatrixMatmulConfig& c);

using FloatGluMatrixMatmulKernel =
    wgsl::Kernel<wgsl::In<"w_gate", WeightUnits>, wgsl::In<"gate_scales", wgsl::U32>, wgsl::In<"w_up", WeightUnits>,
                 wgsl::In<"up_scales", wgsl::U32>, Halves, TokenScales, ParamsBuffer, wgsl::Out<"y", wgsl::F32>,
                 wgsl::WorkgroupId, wgsl::LocalIndex>;
FloatGluMatrixMatmulKernel float_glu_matmul_matrix(const FloatMatrixMatmulConfig& c);

}  // namespace tern::gpu
