// float_matmul.h on subgroup matrices: f16 × f16 → f32. Weights and activations are rounded to f16, with a relative
// error of 2^-11. The results are divided by the powers of two of halve_tokens.h.
#pragma once

#include "backend/gpu/kernels/float/float_matmul.h"
#include "backend/gpu/kernels/float/halve_tokens.h"
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

// Interfaces like expert_matmul and expert_glu_matmul. The factors of x are where the tiles say.
using ExpertMatrixMatmulConfig = OfExperts<FloatMatrixMatmulConfig>;
using ExpertMatrixMatmulKernel =
    wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, Halves, ExpertTiles, ExpertBias,
                 wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
ExpertMatrixMatmulKernel expert_matmul_matrix(const ExpertMatrixMatmulConfig& c);

using ExpertGluMatrixMatmulKernel =
    wgsl::Kernel<wgsl::In<"w_gate", WeightUnits>, wgsl::In<"gate_scales", wgsl::U32>, wgsl::In<"w_up", WeightUnits>,
                 wgsl::In<"up_scales", wgsl::U32>, Halves, ExpertTiles, ExpertBias, wgsl::Out<"y", wgsl::F32>,
                 wgsl::WorkgroupId, wgsl::LocalIndex>;
ExpertGluMatrixMatmulKernel expert_glu_matmul_matrix(const ExpertMatrixMatmulConfig& c, uint32_t n_experts);

}  // namespace tern::gpu
