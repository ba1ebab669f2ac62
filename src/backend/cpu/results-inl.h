// What becomes of the results of a linear layer: stored, added, or multiplied with act(gate). Included once per
// instruction set.
#if defined(TERN_BACKEND_CPU_RESULTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TERN_BACKEND_CPU_RESULTS_INL_H_
#undef TERN_BACKEND_CPU_RESULTS_INL_H_
#else
#define TERN_BACKEND_CPU_RESULTS_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "backend/ops.h"
#include "model/config.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {

// x = cap · tanh(x / cap).
HWY_INLINE void Cap(float cap, float* x, size_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const auto vcap = hn::Set(d, cap);
  for (size_t i = 0; i < n; i += lanes) {
    const size_t count = std::min(lanes, n - i);
    hn::StoreN(hn::Mul(hn::Tanh(d, hn::Div(hn::LoadN(d, x + i, count), vcap)), vcap), d, x + i, count);
  }
}

// out[i] = act(gate[i]) · up[i]; out may be gate or up. A result depends on its own operands only, not on where in a
// vector they were, so it is the same however a layer is cut.
template <GluAct kAct>
HWY_INLINE void GluRun(const float* gate, const float* up, size_t n, float* out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < n; i += lanes) {
    const size_t count = std::min(lanes, n - i);
    const auto g = hn::LoadN(d, gate + i, count);
    const auto u = hn::LoadN(d, up + i, count);
    if constexpr (kAct == GluAct::kSilu) {
      // Beyond −104 hn::Exp is not defined, and x / (1 + e^104) is 0 all the same.
      const auto e = hn::Exp(d, hn::Min(hn::Neg(g), hn::Set(d, 104.0f)));
      hn::StoreN(hn::Mul(hn::Div(g, hn::Add(hn::Set(d, 1.0f), e)), u), d, out + i, count);
    } else if constexpr (kAct == GluAct::kGeluTanh) {
      constexpr float kRoot = 0.7978845608f;  // √(2/π)
      const auto cube = hn::Mul(hn::Mul(hn::Mul(g, g), g), hn::Set(d, 0.044715f));
      const auto bend = hn::Tanh(d, hn::Mul(hn::Add(g, cube), hn::Set(d, kRoot)));
      const auto act = hn::Mul(hn::Mul(g, hn::Set(d, 0.5f)), hn::Add(bend, hn::Set(d, 1.0f)));
      hn::StoreN(hn::Mul(act, u), d, out + i, count);
    } else {
      const auto positive = hn::Max(hn::Zero(d), g);  // in this order, for x86 takes the second of 0 and NaN
      hn::StoreN(hn::Mul(hn::Mul(positive, positive), u), d, out + i, count);
    }
  }
}

HWY_INLINE void Glu(GluAct act, const float* gate, const float* up, size_t n, float* out) {
  if (act == GluAct::kSilu) return GluRun<GluAct::kSilu>(gate, up, n, out);
  if (act == GluAct::kGeluTanh) return GluRun<GluAct::kGeluTanh>(gate, up, n, out);
  GluRun<GluAct::kRelu2>(gate, up, n, out);
}

// Where the results for all tokens and rows go, and how.
struct Results {
  enum class How { kSet, kAdd, kGlu };  // out = y, out += y, out = act(out) · y

  Results(ops::Store store, float* to, int n_rows)
      : how(store == ops::Store::kAdd ? How::kAdd : How::kSet), out(to), stride(static_cast<size_t>(n_rows)) {}
  Results(GluAct activation, float* gate, int n_rows)
      : how(How::kGlu), act(activation), out(gate), stride(static_cast<size_t>(n_rows)) {}

  How how;
  GluAct act = GluAct::kRelu2;
  float* out;  // [n, rows]
  size_t stride;
};

// y[t][r], kTokens × kRows of them, for the tokens from `token` and the rows from `row` on; of the rows, the first
// n_rows.
template <int kTokens, int kRows>
HWY_INLINE void PutTile(const Results& results, const float (&y)[kTokens][kRows], int token, int row, int n_rows) {
  float* const first = results.out + static_cast<size_t>(token) * results.stride + static_cast<size_t>(row);
  const auto rows = static_cast<size_t>(n_rows);
  if (results.how == Results::How::kGlu) {
    float gate[kTokens][kRows] = {};
    for (size_t t = 0; t < kTokens; ++t) std::copy_n(first + t * results.stride, rows, gate[t]);
    Glu(results.act, gate[0], y[0], size_t{kTokens} * kRows, gate[0]);
    for (size_t t = 0; t < kTokens; ++t) std::copy_n(gate[t], rows, first + t * results.stride);
    return;
  }
  for (size_t t = 0; t < kTokens; ++t) {
    float* const out = first + t * results.stride;
    for (size_t r = 0; r < rows; ++r) out[r] = results.how == Results::How::kAdd ? out[r] + y[t][r] : y[t][r];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
