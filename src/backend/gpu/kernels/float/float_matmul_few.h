// float_matmul_matrix.h for a few tokens and weights of at most two bits: batches of decode. With few tokens, moving
// weights into matrices takes longer than the products.
#pragma once

#include "backend/gpu/kernels/float/float_matmul_matrix.h"

namespace tern::gpu {

// A workgroup computes a tile of all tokens of a group × some rows. Its subgroups share the columns. Weights pass
// through workgroup memory as f16; activations are loaded into matrices straight from storage, where each matrix is
// contiguous (halve_tokens.h).
struct FloatMatmulFewConfig {
  uint32_t rows;  // of y
  uint32_t cols;
  WeightCoding coding;
  WeightCoding up_coding = {};  // of the glu kernel's second matrix
  Store store = Store::kSet;
  Activation act = Activation::kRelu2;  // of the glu kernel
  wgsl::MatrixShape shape;              // kF16ToF32; m counts tokens, n rows
  uint32_t subgroup;                    // the size of every subgroup
  uint32_t tile_rows = 32;              // of each matrix
  uint32_t tile_tokens = 16;            // a multiple of kRowsOfGroup
  // Subgroups of a workgroup. A team of splits / teams subgroups shares the columns of a block; each team has every
  // teams-th block.
  uint32_t splits = 4, teams = 1;

  uint32_t workgroup() const { return subgroup * splits; }
  // Bytes of workgroup memory. n_matrices is 2 for the glu kernel.
  uint32_t workgroup_bytes(uint32_t n_matrices) const;

  bool operator==(const FloatMatmulFewConfig&) const = default;
};

// True if there is a kernel for this tile, shape and coding.
bool has_float_matmul_few(const FloatMatmulFewConfig& c, uint32_t n_matrices);

// Must have memory for whole tiles of tokens.
using HalfValues = wgsl::In<"x", wgsl::F16>;
using FloatMatmulFewKernel =
    wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, HalfValues, TokenScales, RowRange,
                 ParamsBuffer, wgsl::InOut<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Interfaces and grids like float_matmul_matrix and float_glu_matmul_matrix.
FloatMatmulFewKernel float_matmul_few(const FloatMatmulFewConfig& c);

using FloatGluMatmulFewKernel =
    wgsl::Kernel<wgsl::In<"w_gate", WeightUnits>, wgsl::In<"gate_scales", wgsl::U32>, wgsl::In<"w_up", WeightUnits>,
                 wgsl::In<"up_scales", wgsl::U32>, HalfValues, TokenScales, ParamsBuffer, wgsl::Out<"y", wgsl::F32>,
                 wgsl::WorkgroupId, wgsl::LocalIndex>;
FloatGluMatmulFewKernel float_glu_matmul_few(const FloatMatmulFewConfig& c);

}  // namespace tern::gpu
