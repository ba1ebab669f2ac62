// The LM head for several rows, with f16 weights in storage: f16 × f16 → f32 on subgroup matrices.
#pragma once

#include "backend/gpu/kernels/float/float_matmul_matrix.h"

namespace tern::gpu {

// Each subgroup multiplies two matrices of weight rows with all tokens of a tile. Both sides are staged in workgroup
// memory, because some drivers load matrices from storage value by value. Activations have 22 bits: an f16, and a
// second f16 with the rest (halve_tokens with rest_at).
struct LogitsMatrixConfig {
  uint32_t rows;            // of y
  uint32_t cols;            // a multiple of 32
  wgsl::MatrixShape shape;  // kF16ToF32; m counts tokens, n rows
  uint32_t subgroup;        // the size of every subgroup
  uint32_t rest_at;         // where the rest of the activations begins, as a row of x
  uint32_t subgroups = 4;
  uint32_t tokens = 32;  // per tile, a multiple of shape.m and of kRowsOfGroup
  uint32_t workgroup() const { return subgroup * subgroups; }
  uint32_t rows_of_subgroup() const { return 2 * shape.n; }
  uint32_t tile_rows() const { return subgroups * rows_of_subgroup(); }
  // Columns staged at a time: the fastest number, which depends on how many workgroups run side by side.
  uint32_t block() const { return cols % 64 == 0 && tokens > 16 ? 64 : 32; }
  uint32_t stride() const { return block() + 8; }  // between staged rows, so that rows start in different banks
  uint32_t staged_rows() const { return tile_rows() + 2 * tokens; }
  uint32_t workgroup_bytes() const { return tokens * tile_rows() * 4 + staged_rows() * stride() * 2; }

  bool operator==(const LogitsMatrixConfig&) const = default;
};

using LogitsMatrixKernel =
    wgsl::Kernel<wgsl::In<"w", wgsl::Vec4<wgsl::F16>>, wgsl::In<"x", wgsl::Vec4<wgsl::F16>>, TokenScales, RowRange,
                 ParamsBuffer, wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y = w · x for the rows whose logits are wanted. The range must have at least rows_of_subgroup() rows of w. Grid:
// [⌈count / tile_rows⌉, ⌈n_rows / tokens⌉].
LogitsMatrixKernel logits_matrix(const LogitsMatrixConfig& c);

}  // namespace tern::gpu
