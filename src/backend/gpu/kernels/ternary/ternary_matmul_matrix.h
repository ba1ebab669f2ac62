// ternary_matmul.h on subgroup matrices: int8 × int8 → int32, which is exact, so the results have the same bits.
#pragma once

#include <optional>

#include "backend/gpu/kernels/prompt_tile.h"
#include "backend/gpu/kernels/ternary/ternary_matmul.h"

namespace tern::gpu {

// A workgroup computes a tile of tokens × rows; each subgroup computes a part of it. Activations and codes are staged
// in workgroup memory as int8, in blocks of 128 or 64 columns, for matrices A[tokens, columns]
// and B[columns, rows]. The sums return through the same memory.
struct TernaryMatrixMatmulConfig {
  uint32_t rows, cols;  // multiples of 4
  // For three matrices stored as one: the rows of the first two. The scales of the three are a, b and c. 0: a single
  // matrix with the scale a.
  uint32_t rows_of_a = 0, rows_of_b = 0;
  Store store = Store::kSet;
  Activation act = Activation::kRelu2;  // of the glu kernel
  wgsl::MatrixShape shape;              // kI8ToI32; m counts tokens, n rows
  uint32_t subgroup;                    // the size of every subgroup
  PromptTile tile = {};
  uint32_t tile_rows = 0, tile_tokens = 0;  // tile_rows: of each matrix; fit() sets both
  uint32_t workgroup() const { return subgroup * tile.subgroup_rows * tile.subgroup_tokens; }
  // Bytes of workgroup memory. n_matrices is 2 for the glu kernel.
  uint32_t workgroup_bytes(uint32_t n_matrices) const;

  bool operator==(const TernaryMatrixMatmulConfig&) const = default;
};

// Sets the tile's sizes.
TernaryMatrixMatmulConfig fit(TernaryMatrixMatmulConfig c);

// True if there are kernels for this shape.
bool has_matrix_matmul(const wgsl::MatrixShape& shape);

// The kernels' interfaces and grids are those of ternary_matmul and ternary_glu_matmul.
TernaryMatmulKernel ternary_matmul_matrix(const TernaryMatrixMatmulConfig& c);
TernaryGluMatmulKernel ternary_glu_matmul_matrix(const TernaryMatrixMatmulConfig& c);

}  // namespace tern::gpu
