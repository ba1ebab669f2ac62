// Float matrices of any format (packed_weights.h) times f32 rows: the linear layers of models with float activations,
// and every LM head.
#pragma once

#include "backend/gpu/kernels/common.h"
#include "backend/gpu/kernels/embed.h"
#include "backend/gpu/kernels/packed_weights.h"

namespace tern::gpu {

struct FloatLinearConfig {
  uint32_t rows;  // of y; a binding may hold only a part of the matrix
  uint32_t cols;  // a multiple of the coding's unit
  WeightCoding coding;
  WeightCoding up_coding = {};  // of the glu kernel's second matrix
  Store store = Store::kSet;
  Activation act = Activation::kRelu2;  // of the glu kernel
  // x is normed on the way: y = w · (x·gain) / √(mean x² + eps). The factor is applied last: the squares of x are added
  // up during the product, because each row of w is multiplied with all of x. If false, `gain` is not read.
  bool normed = false;
  float eps = 0;
  // The workgroup first copies x into workgroup memory, in an order in which adjacent lanes read adjacent
  // values. Worthwhile if a unit is multiplied with many values of x. Takes cols · 4 bytes.
  bool staged = false;
  // x is converted to int8 when it is staged, in runs of 32 with one scale each. That needs a quarter of the
  // bytes per weight, and one instruction computes four products. Only for weights stored as codes, and whole runs.
  bool int8_x = false;
  Caps caps;
  uint32_t most_ahead = 8;      // units of weights per lane that are loaded before x is ready
  uint32_t lanes = 32;          // invocations per row
  uint32_t rows_per_group = 4;  // rows that share the loads of x; for the glu kernel, rows of each matrix
  uint32_t workgroup = 256;
  // For the kernels for a few rows of x. columns: rows of x that a workgroup multiplies, so that weights are read once
  // for all of them. of_logits: x has the rows whose logits are wanted, not all rows of the batch.
  uint32_t columns = 1;
  bool of_logits = false;
  uint32_t rows_per_workgroup() const { return workgroup / lanes * rows_per_group; }

  bool operator==(const FloatLinearConfig&) const = default;
};

inline constexpr uint32_t kRun = 32;  // int8 activations that share a scale

// Bytes of workgroup memory for each staged row of x.
uint32_t staged_bytes(const FloatLinearConfig& c);

// Limits the lanes to the units of a row, so that every lane has work.
FloatLinearConfig fit(FloatLinearConfig c);

using FloatX = wgsl::In<"x", wgsl::Vec4<wgsl::F32>>;
using FloatGain = wgsl::In<"gain", wgsl::Vec4<wgsl::F32>>;

// The binding holds range.count rows of the matrix. Their results start at range.first in y.
using FloatLinearKernel =
    wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, FloatX, FloatGain, RowRange,
                 wgsl::InOut<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
// y[t, row] = w[row] · x[t], or += that. Grid: [≈ √n, ≈ √n, n_rows_of_x] with x·y ≥ ⌈count / rows_per_workgroup⌉ = n,
// because a dimension is limited to 65,535 workgroups.
FloatLinearKernel float_linear(const FloatLinearConfig& c);

// The same with a bias for each value of a row of y.
using FloatLinearBiasKernel = wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, FloatX, FloatGain,
                                           wgsl::In<"bias", wgsl::F32>, RowRange, wgsl::InOut<"y", wgsl::F32>,
                                           wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
FloatLinearBiasKernel float_linear_bias(const FloatLinearConfig& c);

using FloatGluKernel =
    wgsl::Kernel<wgsl::In<"w_gate", WeightUnits>, wgsl::In<"gate_scales", wgsl::U32>, wgsl::In<"w_up", WeightUnits>,
                 wgsl::In<"up_scales", wgsl::U32>, FloatX, FloatGain, wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId,
                 wgsl::NumWorkgroups, wgsl::LocalIndex>;
// y = act(gate·x) · (up·x), for whole matrices. Grid as above.
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

// Mixtures of experts: the rows of all experts follow one another in a matrix. Linear: the Config of a kernel for one
// expert's matrix; its rows are that expert's.
template <class Linear>
struct OfExperts {
  Linear linear;
  uint32_t n_used;
  bool has_bias = false;   // else `bias` is not read
  bool own_input = false;  // each expert has a row of x of its own, else each token
  float limit = 0;         // ExpertConfig::limit

  bool operator==(const OfExperts&) const = default;
};
using ExpertBias = wgsl::In<"bias", wgsl::F32>;

// For one token at a time. `chosen` names its experts (experts.h).
using ExpertLinearConfig = OfExperts<FloatLinearConfig>;
uint32_t workgroups_per_expert(const ExpertLinearConfig& c);

using ChosenExperts = wgsl::In<"chosen", wgsl::F32>;

// y[t, i] = w[chosen[t, i]] · x + bias. Grid: [≈ √n, ≈ √n, tokens], n = n_used · workgroups_per_expert(c).
using ExpertLinearKernel =
    wgsl::Kernel<wgsl::In<"w", WeightUnits>, wgsl::In<"scales", wgsl::U32>, FloatX, ChosenExperts, ExpertBias,
                 wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
ExpertLinearKernel expert_linear(const ExpertLinearConfig& c);

// y[t, i] = act(gate·x) · (up·x), with the matrices of expert chosen[t, i]. `bias` has those of all gates, and then
// those of `up`. Grid as above.
using ExpertGluKernel =
    wgsl::Kernel<wgsl::In<"w_gate", WeightUnits>, wgsl::In<"gate_scales", wgsl::U32>, wgsl::In<"w_up", WeightUnits>,
                 wgsl::In<"up_scales", wgsl::U32>, FloatX, ChosenExperts, ExpertBias, wgsl::Out<"y", wgsl::F32>,
                 wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
ExpertGluKernel expert_glu(const ExpertLinearConfig& c, uint32_t n_experts);

// The same for x that is normed on the way (FloatLinearConfig::normed).
using ExpertNormGluKernel =
    wgsl::Kernel<wgsl::In<"w_gate", WeightUnits>, wgsl::In<"gate_scales", wgsl::U32>, wgsl::In<"w_up", WeightUnits>,
                 wgsl::In<"up_scales", wgsl::U32>, FloatX, FloatGain, ChosenExperts, ExpertBias,
                 wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::NumWorkgroups, wgsl::LocalIndex>;
inline constexpr uint32_t kExpertNormGluBuffers = 9;  // that it binds
ExpertNormGluKernel expert_norm_glu(const ExpertLinearConfig& c, uint32_t n_experts);

}  // namespace tern::gpu
