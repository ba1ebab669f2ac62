// Norms inside other kernels: reading rows that are normed and quantised on the way, and leaving for such a reader what
// it has to know (common.h, NormStats).
#pragma once

#include <functional>

#include "backend/gpu/kernels/ternary_linear.h"

namespace tern::gpu {

struct NormConfig {
  float eps = 0;
  uint32_t n_parts = 0;  // of the row's statistics

  bool operator==(const NormConfig&) const = default;
};

// A row of activations that is int8 in storage.
template <class X>
class StoredActivations {
 public:
  StoredActivations(const TernaryConfig& c, const X& x, const wgsl::WorkgroupId& wg)
      : c_(c), x_(x), x_base_(wgsl::let("x_base", wg.y * quantized_stride(c.cols))) {}
  void prepare() {}
  auto quads() const { return stored_quads(x_, x_base_); }
  ActivationScale scale() const { return load_activation_scale(x_, x_base_, c_.cols); }

 private:
  TernaryConfig c_;
  X x_;
  wgsl::Name<wgsl::U32> x_base_;
};

using NormX = wgsl::In<"x", wgsl::Vec4<wgsl::F32>>;
using NormGain = wgsl::In<"gain", wgsl::Vec4<wgsl::F32>>;
using NormParts = wgsl::In<"parts", NormStats>;

// What makes int8 of a normed row: Σx² and max |x·gain| of the whole row give the factor of each x·gain, and the scale
// of the result.
struct NormScales {
  wgsl::Name<wgsl::F32> factor_and_scale, scale;
};
NormScales norm_scales(const wgsl::Name<wgsl::F32>& squares, const wgsl::Name<wgsl::F32>& largest, uint32_t cols,
                       float eps);

// A row of floats that the workgroup norms and quantises: every kernel that does so gives it the same bits.
class NormedRow {
 public:
  NormedRow(const TernaryConfig& c, const NormConfig& norm, const NormX& x, const NormGain& gain,
            const NormParts& parts, const wgsl::WorkgroupId& wg, const wgsl::LocalIndex& tid)
      : c_(c), norm_(norm), x_(x), gain_(gain), parts_(parts), wg_(wg), tid_(tid) {}
  // store(unit, words): the 16 values from 16 · unit on. All invocations have to call it; holds barriers, the last one
  // after all is stored.
  using StoreUnit = std::function<void(const wgsl::Name<wgsl::U32>&, wgsl::Temp<QuantizedWords>)>;
  ActivationScale quantize(const StoreUnit& store) const;

 private:
  TernaryConfig c_;
  NormConfig norm_;
  NormX x_;
  NormGain gain_;
  NormParts parts_;
  wgsl::WorkgroupId wg_;
  wgsl::LocalIndex tid_;
};

// A row that goes into workgroup memory. Every workgroup does it again, which is cheaper than a dispatch of its own and
// a trip through memory for rows that fit a few registers per invocation.
class NormedActivations {
 public:
  NormedActivations(const TernaryConfig& c, const NormConfig& norm, const NormX& x, const NormGain& gain,
                    const NormParts& parts, const wgsl::WorkgroupId& wg, const wgsl::LocalIndex& tid);
  // All invocations have to call it; holds barriers.
  void prepare();
  auto quads() const {
    return [this]<class P>(const wgsl::Name<wgsl::U32>& i, const P& p) { return staged_[i + p * c_.row_vectors()]; };
  }
  ActivationScale scale() const { return scale_; }

 private:
  TernaryConfig c_;
  NormedRow row_;
  wgsl::Shared<QuantizedWords> staged_;  // [4 planes, half blocks]: neighbouring lanes read neighbours
  ActivationScale scale_;
};

using NormedQuantizeKernel =
    wgsl::Kernel<NormX, NormGain, NormParts, wgsl::Out<"y", QuantizedWords>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Groups of rows of int8 words (common.h), to the bit what kernels for one row, of this workgroup, make of them. Of `c`
// only cols, caps and workgroup are read. Grid: [1, n_tokens].
NormedQuantizeKernel normed_quantize(const TernaryConfig& c, const NormConfig& norm);

using NextGain = wgsl::In<"next_gain", wgsl::F32>;
using NextParts = wgsl::Out<"next_parts", NormStats>;

// Collects what a kernel writes, for the norm that follows.
class StatsWriter {
 public:
  StatsWriter(const NextGain& gain, const NextParts& parts);
  // One value of the row, inside whatever branch stores it.
  void add(const wgsl::Name<wgsl::F32>& value, const wgsl::Name<wgsl::U32>& column);
  // Reduces what lane 0 of the workgroup's groups of `lanes` invocations have added and writes it as part `part` of
  // row `row`, which has n_parts. All invocations have to call it.
  void finish(const Caps& caps, const wgsl::LocalIndex& tid, uint32_t lanes, uint32_t workgroup,
              const wgsl::Name<wgsl::U32>& row, const wgsl::Name<wgsl::U32>& part, uint32_t n_parts);

 private:
  NextGain gain_;
  NextParts parts_;
  wgsl::Var<wgsl::F32> squares_, largest_;
};

// ---- The kernels. Their int8 twins are in ternary_linear.h and ternary_qkv.h.

using NormedMatvecAddKernel =
    wgsl::Kernel<wgsl::In<"w", TernaryWeights>, NormX, NormGain, NormParts, WeightScales, wgsl::InOut<"y", wgsl::F32>,
                 NextGain, NextParts, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y += w · q(norm(x)), and the statistics of y. Grid: [⌈rows / rows_per_workgroup⌉, n_tokens].
NormedMatvecAddKernel normed_matvec_add(const TernaryConfig& c, const NormConfig& norm);

using NormedGluKernel =
    wgsl::Kernel<wgsl::In<"w_gate", TernaryWeights>, wgsl::In<"w_up", TernaryWeights>, NormX, NormGain, NormParts,
                 WeightScales, wgsl::Out<"y", wgsl::F32>, NextGain, NextParts, wgsl::WorkgroupId, wgsl::LocalIndex>;
NormedGluKernel normed_glu(const TernaryConfig& c, const NormConfig& norm);

}  // namespace tern::gpu
