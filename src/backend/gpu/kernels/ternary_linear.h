// Ternary matrix times int8 rows: y = (Σ code·q − Σ q) / s · weight scale, with what follows it done in the same
// kernel.
#pragma once

#include "backend/gpu/kernels/common.h"

namespace tern::gpu {

// Rows of half blocks: 16 bytes of I2_S, 64 elements (quant/i2_s.h).
using TernaryWeights = wgsl::Vec4<wgsl::I2sWord>;
using QuantizedWords = wgsl::Vec4<wgsl::I8x4>;

// What becomes of the results.
enum class TernaryStore {
  kSet,  // y = w·x
  kAdd,  // y += w·x
};

struct TernaryConfig {
  uint32_t rows, cols;  // cols a multiple of 128
  TernaryStore store = TernaryStore::kSet;
  Caps caps;
  // How the work is laid out: `lanes` consecutive invocations share a row, and compute `rows_per_group` rows together
  // so that each activation that they load is used as often.
  uint32_t lanes = 8;
  uint32_t rows_per_group = 2;
  uint32_t workgroup = 128;
  uint32_t rows_per_workgroup() const { return workgroup / lanes * rows_per_group; }
};

using WeightScales = wgsl::Uniform<"scales", wgsl::Field<"a", wgsl::F32>, wgsl::Field<"b", wgsl::F32>,
                                   wgsl::Field<"c", wgsl::F32>, wgsl::Field<"unused", wgsl::F32>>;

using TernaryMatvecKernel = wgsl::Kernel<wgsl::In<"w", TernaryWeights>, wgsl::In<"x", QuantizedWords>, WeightScales,
                                         wgsl::InOut<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// Grid: [⌈rows / rows_per_workgroup⌉, n_tokens].
TernaryMatvecKernel ternary_matvec(const TernaryConfig& c);

using TernaryGluKernel =
    wgsl::Kernel<wgsl::In<"w_gate", TernaryWeights>, wgsl::In<"w_up", TernaryWeights>, wgsl::In<"x", QuantizedWords>,
                 WeightScales, wgsl::Out<"y", wgsl::F32>, wgsl::WorkgroupId, wgsl::LocalIndex>;
// y = relu(gate·x)² · (up·x). `store` is not used. Grid as above.
TernaryGluKernel ternary_glu(const TernaryConfig& c);

// ---- Parts that ternary_qkv uses too.

// The integer dot products of `rows_per_group` rows with one row of activations, on every lane of the group; for use
// inside a kernel.
class TernaryDots {
 public:
  TernaryDots(const TernaryConfig& c, wgsl::LocalIndex tid);

  // Row `r` starts at vec4 index rows[r] of its matrix; `load(r, i)` gives vec4 i of the matrix of row r. `x_base` is
  // the vec4 where the activations' row starts.
  template <class Load, class X>
  std::vector<wgsl::Name<wgsl::I32>> compute(const std::vector<wgsl::Name<wgsl::U32>>& rows, Load&& load, const X& x,
                                             const wgsl::Name<wgsl::U32>& x_base) const;

  const wgsl::Name<wgsl::U32>& group() const { return group_; }  // which group of the workgroup this invocation is in
  const wgsl::Name<wgsl::U32>& lane() const { return lane_; }    // and which lane of it

 private:
  TernaryConfig c_;
  wgsl::LocalIndex tid_;
  Dot4 dot4_;
  wgsl::Name<wgsl::U32> group_, lane_;
};

// What turns integer dot products of a token into floats: x ≈ q / scale, and Σ q.
struct ActivationScale {
  wgsl::Name<wgsl::F32> scale;
  wgsl::Name<wgsl::I32> sum;
};
template <class X>
ActivationScale load_activation_scale(const X& x, const wgsl::Name<wgsl::U32>& x_base, uint32_t cols) {
  using namespace wgsl;
  auto meta = let("x_meta", x[x_base + cols / 16]);
  auto scale = let("x_scale", bitcast<F32>(bits(at(meta, 0))));
  auto sum = let("x_sum", bitcast<I32>(bits(at(meta, 1))));
  return {scale, sum};
}

inline wgsl::Temp<wgsl::F32> dequantise(const wgsl::Name<wgsl::I32>& dot, const ActivationScale& x,
                                        const wgsl::Name<wgsl::F32>& weight_scale) {
  return wgsl::f32(dot - x.sum) / x.scale * weight_scale;
}

template <class Load, class X>
std::vector<wgsl::Name<wgsl::I32>> TernaryDots::compute(const std::vector<wgsl::Name<wgsl::U32>>& rows, Load&& load,
                                                        const X& x, const wgsl::Name<wgsl::U32>& x_base) const {
  using namespace wgsl;
  const uint32_t n_vec = c_.cols / 64;  // per row
  std::vector<Var<I32>> sums;
  for (size_t r = 0; r < rows.size(); ++r) sums.push_back(var("acc", 0));
  const auto add = [&](const Name<U32>& i) {
    std::vector<Name<TernaryWeights>> w;
    for (size_t r = 0; r < rows.size(); ++r) w.push_back(let("w4", load(r, rows[r] + i)));
    // Half h of block b meets, in plane p, activations 128b + 32p + 16h …: vec4 number 8b + 2p + h.
    auto first = let("x4", x_base + ((i >> 1u) * 8u + (i & 1u)));
    for (uint32_t p = 0; p < 4; ++p) {
      auto q = let("q4", x[first + 2 * p]);
      for (uint32_t k = 0; k < 4; ++k) {
        for (size_t r = 0; r < rows.size(); ++r) sums[r] += dot4_(codes(at(w[r], k), p), at(q, k));
      }
    }
  };
  // Unrolled, so that all loads are on their way before the first is needed.
  const uint32_t rounds = (n_vec + c_.lanes - 1) / c_.lanes;
  constexpr uint32_t kMostUnrolled = 8;
  if (rounds <= kMostUnrolled) {
    for (uint32_t k = 0; k < rounds; ++k) {
      auto i = let("i", lane_ + k * c_.lanes);
      if ((k + 1) * c_.lanes <= n_vec) {
        add(i);
      } else {
        when(i < n_vec, [&] { add(i); });
      }
    }
  } else {
    loop("i", lane_, n_vec, c_.lanes, add);
  }
  std::vector<Name<I32>> totals;
  for (size_t r = 0; r < rows.size(); ++r) {
    auto mine = let("mine", sums[r]);
    totals.push_back(reduce_lanes(Reduce::kSum, c_.caps, mine, tid_, c_.lanes, c_.workgroup));
  }
  return totals;
}

}  // namespace tern::gpu
