// Float matrix times f32 rows: the LM head.
#pragma once

#include "backend/gpu/kernels/common.h"
#include "backend/gpu/kernels/embed.h"

namespace tern::gpu {

struct FloatLinearConfig {
  uint32_t rows, cols;  // of the whole matrix; cols a multiple of 8
  Caps caps;
  uint32_t lanes = 32;          // invocations per row
  uint32_t rows_per_group = 4;  // that share what they load of x
  uint32_t workgroup = 256;
  uint32_t rows_per_workgroup() const { return workgroup / lanes * rows_per_group; }
};

// Quad: Vec4<F16x2> (eight values) or Vec4<F32> (four). The binding holds rows range.first … of the matrix.
template <class Quad>
using FloatLinearKernel =
    wgsl::Kernel<wgsl::In<"w", Quad>, wgsl::In<"x", wgsl::Vec4<wgsl::F32>>, RowRange, wgsl::Out<"y", wgsl::F32>,
                 wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
// y[t, row] = w[row] · x[t]. Grid: [≈ √n, ≈ √n, n_rows_of_x] with x·y ≥ ⌈count / rows_per_workgroup⌉ = n, for a
// dimension has at most 65,535 workgroups.
template <class Quad>
FloatLinearKernel<Quad> float_linear(const FloatLinearConfig& c);

}  // namespace tern::gpu
