// Norms inside other kernels: reading rows that are normed and quantized on the way, and writing the statistics that
// such a reader needs (common.h, NormStats).
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "backend/gpu/kernels/ternary/ternary_linear.h"

namespace tern::gpu {

struct NormConfig {
  float eps = 0;
  uint32_t n_parts = 0;  // parts of the row's statistics

  bool operator==(const NormConfig&) const = default;
};

// A row of activations that is stored as int8.
template <class X>
class StoredActivations {
 public:
  StoredActivations(const TernaryConfig& c, const X& x, const wgsl::WorkgroupId& wg)
      : c_(c), x_(x), x_base_(wgsl::let("x_base", wg.y * quantized_stride(c.cols))) {}
  void prepare() {}
  template <class Load>
  auto multiply(const TernaryDots& dots, const std::vector<wgsl::Name<wgsl::U32>>& starts, const Load& load) const {
    return dots.multiply(starts, load, stored_quads(x_, x_base_));
  }
  ActivationScale scale(const TernaryDots& /*dots*/) const { return load_activation_scale(x_, x_base_, c_.cols); }

 private:
  TernaryConfig c_;
  X x_;
  wgsl::Name<wgsl::U32> x_base_;
};

using NormX = wgsl::In<"x", wgsl::Vec4<wgsl::F32>>;
using NormGain = wgsl::In<"gain", wgsl::Vec4<wgsl::F32>>;
using NormParts = wgsl::In<"parts", NormStats>;

// Factors for converting a normed row to int8. Computed from the whole row's Σx² and max |x·gain|: the factor of each
// x·gain, and the scale of the result.
struct NormScales {
  wgsl::Name<wgsl::F32> factor_and_scale, scale;
};
NormScales norm_scales(const wgsl::Name<wgsl::F32>& squares, wgsl::Temp<wgsl::F32> largest, uint32_t cols, float eps,
                       std::string_view name_of_scale = "x_scale");

// Σx² and max |x·gain|, of a row or a part of it.
struct RowStats {
  wgsl::Name<wgsl::F32> squares, largest;
};
// Adds up an invocation's share of the parts of a row's statistics. Each of `width` adjacent invocations takes one of
// the parts from `first` on, then one `step` parts further, and so on; `lane` is its index among them.
RowStats add_up_parts(const NormParts& parts, const wgsl::Name<wgsl::U32>& parts_row, uint32_t n_parts,
                      const wgsl::Name<wgsl::U32>& lane, uint32_t width, uint32_t first, uint32_t step);

// Rounds 16 adjacent values, weighted(i) · factor for quad i, to int8, and adds them to `sum`.
template <class Weighted>
wgsl::Temp<QuantizedWords> quantize_unit(const Caps& caps, const Weighted& weighted,
                                         const wgsl::Name<wgsl::F32>& factor, const wgsl::Var<wgsl::I32>& sum) {
  std::vector<wgsl::Name<wgsl::I8x4>> words;
  for (uint32_t i = 0; i < 4; ++i) {
    const wgsl::Name<wgsl::Vec4<wgsl::F32>> quad = weighted(i);
    auto q = to_int8(quad * factor);
    words.push_back(pack_int8(caps, q));
    sum += sum_of(q);
  }
  return wgsl::call<QuantizedWords>("vec4<u32>", words[0], words[1], words[2], words[3]);
}

// A row of floats that the workgroup norms and quantizes. All kernels that do so compute the same bits.
class NormedRow {
 public:
  NormedRow(const TernaryConfig& c, const NormConfig& norm, const NormX& x, const NormGain& gain,
            const NormParts& parts, const wgsl::WorkgroupId& wg, const wgsl::LocalIndex& tid)
      : c_(c), norm_(norm), x_(x), gain_(gain), parts_(parts), wg_(wg), tid_(tid) {}
  // store(unit, words) gets the 16 values starting at 16 · unit. All invocations must call quantize(); it contains
  // barriers, the last one after everything is stored.
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

// A row that is staged in workgroup memory. Every workgroup repeats this work: for rows that fit a few registers per
// invocation, that is cheaper than a separate dispatch and a trip through memory.
class NormedActivations {
 public:
  NormedActivations(const TernaryConfig& c, const NormConfig& norm, const NormX& x, const NormGain& gain,
                    const NormParts& parts, const wgsl::WorkgroupId& wg, const wgsl::LocalIndex& tid);
  // All invocations must call it. Contains barriers.
  void prepare();
  template <class Load>
  auto multiply(const TernaryDots& dots, const std::vector<wgsl::Name<wgsl::U32>>& starts, const Load& load) const {
    return dots.multiply(starts, load, [this]<class P>(const wgsl::Name<wgsl::U32>& i, const P& p) {
      return staged_[i + p * c_.row_vectors()];
    });
  }
  ActivationScale scale(const TernaryDots& /*dots*/) const { return scale_; }

 private:
  TernaryConfig c_;
  NormedRow row_;
  wgsl::Shared<QuantizedWords> staged_;  // [4 planes, half blocks]: adjacent lanes read adjacent vec4s
  ActivationScale scale_;
};

using NormedQuantizeKernel =
    wgsl::Kernel<NormX, NormGain, NormParts, wgsl::Out<"y", QuantizedWords>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Writes groups of rows of int8 words (common.h), with the same bits as the kernels for one row that have this
// workgroup. Only cols, caps and workgroup of `c` are read. Grid: [1, n_tokens].
NormedQuantizeKernel normed_quantize(const TernaryConfig& c, const NormConfig& norm);

using NextGain = wgsl::In<"next_gain", wgsl::F32>;
using NextParts = wgsl::Out<"next_parts", NormStats>;

// Collects the statistics of what a kernel writes, for the next norm.
class StatsWriter {
 public:
  StatsWriter(const NextGain& gain, const NextParts& parts);
  // Adds one value of the row. To be called in the same branch that stores the value.
  void add(const wgsl::Name<wgsl::F32>& value, const wgsl::Name<wgsl::U32>& column);
  // What this invocation has added: Σx² and max |x·gain|.
  wgsl::Temp<NormStats> mine() const { return wgsl::vec2f(squares_, largest_); }
  // Reduces what lane 0 of each group of `lanes` invocations has added, and writes it as part `part` of row `row`,
  // which has n_parts. All invocations must call it.
  void finish(const Caps& caps, const wgsl::LocalIndex& tid, uint32_t lanes, uint32_t workgroup,
              const wgsl::Name<wgsl::U32>& row, const wgsl::Name<wgsl::U32>& part, uint32_t n_parts);

 private:
  NextGain gain_;
  NextParts parts_;
  wgsl::Var<wgsl::F32> squares_, largest_;
};

// ---- The kernels. Their variants for int8 activations are in ternary_linear.h and ternary_qkv.h.

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
