// Float matrices of any format (packed_weights.h) times f32 rows: the linear layers of models with float activations,
// and every LM head.
#pragma once

#include "backend/gpu/kernels/common.h"
#include "backend/gpu/kernels/embed.h"
#include "backend/gpu/kernels/packed_weights.h"

namespace tern::gpu {

struct FloatLinearConfig {
  uint32_t rows;  // of y, of which a binding's matrix may be a part
  uint32_t cols;  // whole units of the coding
  WeightCoding coding;
  WeightCoding up_coding = {};  // of the glu kernel's second matrix
  Store store = Store::kSet;
  Activation act = Activation::kRelu2;  // of the glu kernel
  // x is normed on the way: y = w · (x·gain) / √(mean x² + eps). The factor comes last, since each row of w is
  // multiplied by all of x, whose squares are added up beside it. Without, `gain` is not read.
  bool normed = false;
  float eps = 0;
  // Whether the workgroup first brings x into workgroup memory, in an order in which neighbouring lanes read
  // neighbours. Pays where a unit meets many values of x; takes cols · 4 bytes.
  bool staged = false;
  // Whether x, on its way into workgroup memory, becomes int8 in runs of 32 with a scale each: a quarter of the bytes
  // to read there for every weight, and four products an instruction. For codings of codes, and whole runs.
  bool int8_x = false;
  Caps caps;
  uint32_t most_ahead = 8;      // units of weights of a lane that are loaded before x is ready
  uint32_t lanes = 32;          // invocations per row
  uint32_t rows_per_group = 4;  // that share what they load of x; of the glu kernel: of each matrix
  uint32_t workgroup = 256;
  // Of the kernels for a few rows of x: how many of them a workgroup multiplies, so that weights are read once for all;
  // and whether they are rows whose logits are wanted, or else the batch's.
  uint32_t columns = 1;
  bool of_logits = false;
  uint32_t rows_per_workgroup() const { return workgroup / lanes * rows_per_group; }

  bool operator==(const FloatLinearConfig&) const = default;
};

inline constexpr uint32_t kRun = 32;  // int8 activations that share a scale

// What workgroup memory holds of each staged row of x.
uint32_t staged_bytes(const FloatLinearConfig& c);

// Lanes that have work in every layout: no more than a row has units.
FloatLinearConfig fit(FloatLinearConfig c);

using FloatX = wgsl::In<"x", wgsl::Vec4<wgsl::F32>>;
using FloatGain = wgsl::In<"gain", wgsl::Vec4<wgsl::F32>>;

// The binding holds range.count rows of the matrix, which give y from range.first on.
using FloatLinearKernel =
    wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, FloatX, FloatGain, RowRange,
                 wgsl::InOut<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
// y[t, row] = w[row] · x[t], or += that. Grid: [≈ √n, ≈ √n, n_rows_of_x] with x·y ≥ ⌈count / rows_per_workgroup⌉ = n,
// for a dimension has at most 65,535 workgroups.
FloatLinearKernel float_linear(const FloatLinearConfig& c);

using FloatGluKernel =
    wgsl::Kernel<wgsl::In<"w_gate", WeightUnits>, wgsl::In<"gate_scales", wgsl::U32>, wgsl::In<"w_up", WeightUnits>,
                 wgsl::In<"up_scales", wgsl::U32>, FloatX, FloatGain, wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId,
                 wgsl::NumWorkgroups, wgsl::LocalIndex>;
// y = act(gate·x) · (up·x), of whole matrices. Grid as above.
FloatGluKernel float_glu(const FloatLinearConfig& c);

// The same for c.columns rows of x at a time. Grid: [≈ √n, ≈ √n, ⌈n_rows_of_x / c.columns⌉].
using FloatLinearColumnsKernel =
    wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, FloatX, FloatGain, RowRange, ParamsBuffer,
                 wgsl::InOut<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
FloatLinearColumnsKernel float_linear_columns(const FloatLinearConfig& c);

using FloatGluColumnsKernel =
    wgsl::Kernel<wgsl::In<"w_gate", WeightUnits>, wgsl::In<"gate_scales", wgsl::U32>, wgsl::In<"w_up", WeightUnits>,
                 wgsl::In<"up_scales", wgsl::U32>, FloatX, FloatGain, ParamsBuffer, wgsl::Out<"y", wgsl::F32>,
                 wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
FloatGluColumnsKernel float_glu_columns(const FloatLinearConfig& c);

}  // namespace tern::gpu
