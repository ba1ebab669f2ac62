// ternary_matmul.h on subgroup matrices: int8 × int8 → int32, which is exact, so the results are the same bits.
#pragma once

#include <optional>

#include "backend/gpu/kernels/prompt_tile.h"
#include "backend/gpu/kernels/ternary_matmul.h"

namespace tern::gpu {

// A workgroup computes a tile of tokens × rows. Block by block (128 columns, or 64 where there are two stages),
// activations and codes are staged in workgroup memory as int8, whose matrices A[tokens, columns] and B[columns, rows]
// are; each subgroup owns a part of the tile. The sums return through the same memory.
struct TernaryMatrixMatmulConfig {
  uint32_t rows, cols;  // cols a multiple of 4
  // Of three matrices in one, the first of which have so many rows: their scales are a, b and, of the last one, c. 0:
  // one matrix, whose scale is a.
  uint32_t rows_of_a = 0, rows_of_b = 0;
  Store store = Store::kSet;
  Activation act = Activation::kRelu2;  // of the glu kernel
  wgsl::MatrixShape shape;              // kI8ToI32; m is of tokens, n of rows
  uint32_t subgroup;                    // every subgroup's size
  PromptTile tile = {};
  uint32_t tile_rows = 0, tile_tokens = 0;  // the former of each matrix; fit sets both
  uint32_t workgroup() const { return subgroup * tile.subgroup_rows * tile.subgroup_tokens; }
  // Of workgroup memory; n_matrices is 2 for the glu kernel.
  uint32_t workgroup_bytes(uint32_t n_matrices) const;

  bool operator==(const TernaryMatrixMatmulConfig&) const = default;
};

// With the tile's sizes.
TernaryMatrixMatmulConfig fit(TernaryMatrixMatmulConfig c);

// The shapes that there are kernels for.
bool has_matrix_matmul(const wgsl::MatrixShape& shape);

// The kernels' interface and grid are those of ternary_matmul and ternary_glu_matmul.
TernaryMatmulKernel ternary_matmul_matrix(const TernaryMatrixMatmulConfig& c);
TernaryGluMatmulKernel ternary_glu_matmul_matrix(const TernaryMatrixMatmulConfig& c);

}  // namespace tern::gpu
