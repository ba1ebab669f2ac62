// The head of several rows, its weights as f16 in storage: f16 × f16 → f32 on subgroup matrices.
#pragma once

#include "backend/gpu/kernels/float_matmul_matrix.h"

namespace tern::gpu {

// A subgroup multiplies two matrices of rows of weights with all tokens of a tile. Both sides go through workgroup
// memory, for matrices that are loaded from storage come value by value on some drivers. Activations count with 22
// bits: as f16, and as f16 again what that leaves (halve_tokens with rest_at).
struct LogitsMatrixConfig {
  uint32_t rows;            // of y
  uint32_t cols;            // a multiple of 32
  wgsl::MatrixShape shape;  // kF16ToF32; m is of tokens, n of rows
  uint32_t subgroup;        // every subgroup's size
  uint32_t rest_at;         // row of x
  uint32_t subgroups = 4;
  uint32_t tokens = 32;  // of a tile, a multiple of shape.m and of kRowsOfGroup
  uint32_t workgroup() const { return subgroup * subgroups; }
  uint32_t rows_of_subgroup() const { return 2 * shape.n; }
  uint32_t tile_rows() const { return subgroups * rows_of_subgroup(); }
  // Columns that are staged at a time: as many as are fastest, which depends on how many workgroups run side by side.
  uint32_t block() const { return cols % 64 == 0 && tokens > 16 ? 64 : 32; }
  uint32_t stride() const { return block() + 8; }  // of a staged row: rows start in different banks
  uint32_t staged_rows() const { return tile_rows() + 2 * tokens; }
  uint32_t workgroup_bytes() const { return tokens * tile_rows() * 4 + staged_rows() * stride() * 2; }

  bool operator==(const LogitsMatrixConfig&) const = default;
};

using LogitsMatrixKernel =
    wgsl::Kernel<wgsl::In<"w", wgsl::Vec4<wgsl::F16>>, wgsl::In<"x", wgsl::Vec4<wgsl::F16>>, TokenScales, RowRange,
                 ParamsBuffer, wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y = w · x for the rows whose logits are wanted; the range has at least rows_of_subgroup() of w's rows. Grid:
// [⌈count / tile_rows⌉, ⌈n_rows / tokens⌉].
LogitsMatrixKernel logits_matrix(const LogitsMatrixConfig& c);

}  // namespace tern::gpu
