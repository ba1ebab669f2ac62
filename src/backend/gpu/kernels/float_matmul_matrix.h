// float_matmul.h on subgroup matrices: f16 × f16 → f32. Weights and activations are rounded to f16, 2^-11 of each; so
// that nothing is out of its range, a token's activations are multiplied by a power of two before, and the results
// divided by it.
#pragma once

#include "backend/gpu/kernels/float_matmul.h"

namespace tern::gpu {

// A workgroup computes a tile of tokens × rows. Block by block (32 columns), activations and weights are staged in
// workgroup memory as f16, whose matrices A[tokens, columns] and B[columns, rows] are; each subgroup owns a part of the
// tile.
struct FloatMatrixMatmulConfig {
  uint32_t rows;  // of y
  uint32_t cols;  // whole units of the coding, and a multiple of 32
  WeightCoding coding;
  WeightCoding up_coding = {};  // of the glu kernel's second matrix
  Store store = Store::kSet;
  Activation act = Activation::kRelu2;  // of the glu kernel
  Caps caps;
  wgsl::MatrixShape shape;  // kF16ToF32; m is of tokens, n of rows
  uint32_t subgroup;        // every subgroup's size
  uint32_t tile_rows = 64;  // of each matrix
  uint32_t tile_tokens = 64;
  uint32_t subgroup_rows = 2, subgroup_tokens = 2;  // subgroups along each side of the tile
  uint32_t workgroup() const { return subgroup * subgroup_rows * subgroup_tokens; }
  // Of workgroup memory; n_matrices is 2 for the glu kernel.
  uint32_t workgroup_bytes(uint32_t n_matrices) const;
};

// With tiles of 2 × 2 matrices for each subgroup.
FloatMatrixMatmulConfig fit(FloatMatrixMatmulConfig c);

// The shapes that there are kernels for.
bool has_float_matrix_matmul(const wgsl::MatrixShape& shape);

// Per token a power of two that brings its greatest magnitude to 1024 … 2048. Grid: [1, n_tokens].
struct TokenScalesConfig {
  uint32_t width;  // a multiple of 4
  Caps caps;
  uint32_t workgroup = 256;
};
using TokenScalesKernel =
    wgsl::Kernel<FloatX, wgsl::Out<"token_scales", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
TokenScalesKernel token_scales(const TokenScalesConfig& c);

using TokenScales = wgsl::In<"token_scales", wgsl::F32>;
using FloatMatrixMatmulKernel =
    wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, FloatX, TokenScales, RowRange, ParamsBuffer,
                 wgsl::InOut<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// As float_matmul and float_glu_matmul. Grids: [⌈count / tile_rows⌉, ⌈n_tokens / tile_tokens⌉].
FloatMatrixMatmulKernel float_matmul_matrix(const FloatMatrixMatmulConfig& c);

using FloatGluMatrixMatmulKernel =
    wgsl::Kernel<wgsl::In<"w_gate", WeightUnits>, wgsl::In<"gate_scales", wgsl::U32>, wgsl::In<"w_up", WeightUnits>,
                 wgsl::In<"up_scales", wgsl::U32>, FloatX, TokenScales, ParamsBuffer, wgsl::Out<"y", wgsl::F32>,
                 wgsl::WorkgroupId, wgsl::LocalIndex>;
FloatGluMatrixMatmulKernel float_glu_matmul_matrix(const FloatMatrixMatmulConfig& c);

}  // namespace tern::gpu
