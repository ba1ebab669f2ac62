// Rows of activations as int8, written once for all workgroups of the products that read them.
#pragma once

#include <functional>

#include "backend/gpu/kernels/float/float_linear.h"

namespace tern::gpu {

// Runs of 32 values share a scale, as in FloatLinearConfig::int8_x, and are stored in the order in which products with
// weights of `coding` read them.
struct Int8RowsConfig {
  uint32_t width;  // a multiple of kRun and of the coding's unit
  WeightCoding coding;
  Caps caps;
  uint32_t workgroup = 256;
  // The values are those of x normed: x · gain / √(mean of x² + eps). If false, `gain` is not read.
  bool normed = false;
  float eps = 0;
  // Workgroups of a row. A norm needs the whole row in one.
  uint32_t workgroups() const { return normed ? 1 : (width / 16 + workgroup - 1) / workgroup; }

  bool operator==(const Int8RowsConfig&) const = default;
};

// x8: [n_rows, width / 16] pieces. runs: [n_rows, width / kRun] of (scale, sum of the integers).
// Grid: [workgroups(), n_rows].
using Int8RowsKernel = wgsl::Kernel<FloatX, FloatGain, wgsl::Out<"x8", wgsl::Vec4<wgsl::U32>>,
                                    wgsl::Out<"runs", wgsl::Vec2<wgsl::F32>>, wgsl::WorkgroupId, wgsl::LocalIndex>;
Int8RowsKernel int8_rows(const Int8RowsConfig& c);

// What a kernel writes that leaves its results as such rows, for the product that reads them next.
using LeftX = wgsl::Out<"left_x8", wgsl::Vec4<wgsl::U32>>;
using LeftRuns = wgsl::Out<"left_runs", wgsl::Vec2<wgsl::F32>>;
struct LeftRow {
  Int8RowsConfig config;  // not normed
  wgsl::Name<wgsl::U32> row;
  wgsl::LocalIndex tid;
  LeftX x8;
  LeftRuns runs;
};
// Leaves `n` values of the row, whole runs, from value `first` on. value(i): the i-th of them, in workgroup memory that
// all invocations see. All invocations must call it.
void leave_int8(const LeftRow& left, const wgsl::Name<wgsl::U32>& first, uint32_t n,
                const std::function<wgsl::Name<wgsl::F32>(const wgsl::Name<wgsl::U32>&)>& value);

using Int8X = wgsl::In<"x8", wgsl::Vec4<wgsl::U32>>;
using Int8Runs = wgsl::In<"runs", wgsl::Vec2<wgsl::F32>>;

// float_linear_columns and float_glu_columns for such rows, which they read from where they lie: c.normed and c.staged
// are false. Each unit of weights is unpacked once for c.columns rows. Grids as there.
using Int8LinearKernel =
    wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, Int8X, Int8Runs, RowRange, ParamsBuffer,
                 wgsl::InOut<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
Int8LinearKernel int8_linear(const FloatLinearConfig& c);

using Int8GluKernel =
    wgsl::Kernel<wgsl::In<"w_gate", WeightUnits>, wgsl::In<"gate_scales", wgsl::U32>, wgsl::In<"w_up", WeightUnits>,
                 wgsl::In<"up_scales", wgsl::U32>, Int8X, Int8Runs, ParamsBuffer, wgsl::Out<"y", wgsl::F32>,
                 wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
Int8GluKernel int8_glu(const FloatLinearConfig& c);

// The same for one row, which leaves y as int8, too, for weights of `coding`. Workgroups have whole runs of rows.
using Int8GluLeavingKernel =
    wgsl::Kernel<wgsl::In<"w_gate", WeightUnits>, wgsl::In<"gate_scales", wgsl::U32>, wgsl::In<"w_up", WeightUnits>,
                 wgsl::In<"up_scales", wgsl::U32>, Int8X, Int8Runs, ParamsBuffer, wgsl::Out<"y", wgsl::F32>, LeftX,
                 LeftRuns, wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
Int8GluLeavingKernel int8_glu_leaving(const FloatLinearConfig& c, const WeightCoding& coding);

}  // namespace tern::gpu
