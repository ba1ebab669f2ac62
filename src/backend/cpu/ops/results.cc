// The stores of linear layers' results (results-inl.h): the parts with exponentials, called from all kernels.
#ifndef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/ops/results.cc"
#endif
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

#include <algorithm>

#include "backend/cpu/ops/results-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void Cap(float cap, float* x, size_t n) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const auto vcap = hn::Set(d, cap);
  for (size_t i = 0; i < n; i += lanes) {
    const size_t count = std::min(lanes, n - i);
    hn::StoreN(hn::Mul(hn::Tanh(d, hn::Div(hn::LoadN(d, x + i, count), vcap)), vcap), d, x + i, count);
  }
}

void MulSigmoid(const float* gate, size_t n, float* x) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < n; i += lanes) {
    const size_t count = std::min(lanes, n - i);
    const auto g = hn::LoadN(d, gate + i, count);
    const auto e = hn::Exp(d, hn::Min(hn::Neg(g), hn::Set(d, 104.0f)));
    const auto kept = hn::IfThenElse(hn::Eq(g, g), e, g);  // Min and Exp lose a NaN
    hn::StoreN(hn::Div(hn::LoadN(d, x + i, count), hn::Add(hn::Set(d, 1.0f), kept)), d, x + i, count);
  }
}

template <GluAct kAct>
HWY_INLINE void GluRun(const float* gate, const float* up, size_t n, float* out) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < n; i += lanes) {
    const size_t count = std::min(lanes, n - i);
    const auto g = hn::LoadN(d, gate + i, count);
    const auto u = hn::LoadN(d, up + i, count);
    if constexpr (kAct == GluAct::kSilu) {
      // hn::Exp is not defined below −104, and x / (1 + e^104) is 0 anyway.
      const auto e = hn::Exp(d, hn::Min(hn::Neg(g), hn::Set(d, 104.0f)));
      hn::StoreN(hn::Mul(hn::Div(g, hn::Add(hn::Set(d, 1.0f), e)), u), d, out + i, count);
    } else if constexpr (kAct == GluAct::kSwigluOai) {
      const auto e = hn::Exp(d, hn::Min(hn::Mul(g, hn::Set(d, -1.702f)), hn::Set(d, 104.0f)));
      const auto act = hn::Div(g, hn::Add(hn::Set(d, 1.0f), e));
      hn::StoreN(hn::Mul(act, hn::Add(u, hn::Set(d, 1.0f))), d, out + i, count);
    } else if constexpr (kAct == GluAct::kGeluTanh) {
      constexpr float kRoot = 0.7978845608f;  // √(2/π)
      const auto cube = hn::Mul(hn::Mul(hn::Mul(g, g), g), hn::Set(d, 0.044715f));
      const auto bend = hn::Tanh(d, hn::Mul(hn::Add(g, cube), hn::Set(d, kRoot)));
      const auto act = hn::Mul(hn::Mul(g, hn::Set(d, 0.5f)), hn::Add(bend, hn::Set(d, 1.0f)));
      hn::StoreN(hn::Mul(act, u), d, out + i, count);
    } else {
      const auto positive = hn::IfThenZeroElse(hn::Lt(g, hn::Zero(d)), g);  // ARM's Max of 0 and NaN is 0
      hn::StoreN(hn::Mul(hn::Mul(positive, positive), u), d, out + i, count);
    }
  }
}

void Glu(GluAct act, const float* gate, const float* up, size_t n, float* out) {
  if (act == GluAct::kSilu) return GluRun<GluAct::kSilu>(gate, up, n, out);
  if (act == GluAct::kGeluTanh) return GluRun<GluAct::kGeluTanh>(gate, up, n, out);
  if (act == GluAct::kSwigluOai) return GluRun<GluAct::kSwigluOai>(gate, up, n, out);
  GluRun<GluAct::kRelu2>(gate, up, n, out);
}

// Results that need more than how they are stored (Results::of).
void PutOfExpert(const Results& results, const float* y, size_t n, size_t row, float* out) {
  float values[kMostTileResults];
  for (size_t r = 0; r < n; ++r) values[r] = results.bias ? y[r] + results.bias[row + r] : y[r];
  if (results.how != Results::How::kGlu) {
    std::copy_n(values, n, out);
    return;
  }
  if (results.limit > 0) {
    for (size_t r = 0; r < n; ++r) {
      out[r] = std::min(out[r], results.limit);  // in this order, NaN stays NaN
      values[r] = std::max(std::min(values[r], results.limit), -results.limit);
    }
  }
  Glu(results.act, out, values, n, out);
}

void PutResults(const Results& results, const float* y, int n_tokens, int y_rows, int token, int row, int n_rows) {
  float* const first = results.out + static_cast<size_t>(token) * results.stride + static_cast<size_t>(row);
  const auto tokens = static_cast<size_t>(n_tokens), rows = static_cast<size_t>(n_rows);
  const auto y_stride = static_cast<size_t>(y_rows);
  if (results.tokens) {
    for (size_t t = 0; t < tokens; ++t) {
      float* const out = results.row(token + static_cast<int>(t)) + row;
      PutOfExpert(results, y + t * y_stride, rows, static_cast<size_t>(row), out);
    }
    return;
  }
  if (results.how == Results::How::kGlu && tokens > 1 && rows == y_stride) {  // whole vectors, if rows are few
    float gate[kMostTileResults];
    for (size_t t = 0; t < tokens; ++t) std::copy_n(first + t * results.stride, rows, gate + t * rows);
    Glu(results.act, gate, y, tokens * rows, gate);
    for (size_t t = 0; t < tokens; ++t) std::copy_n(gate + t * rows, rows, first + t * results.stride);
    return;
  }
  for (size_t t = 0; t < tokens; ++t) {
    float* const out = first + t * results.stride;
    const float* const of_token = y + t * y_stride;
    if (results.how == Results::How::kGlu) {
      Glu(results.act, out, of_token, rows, out);
    } else if (results.how == Results::How::kAdd) {
      for (size_t r = 0; r < rows; ++r) out[r] += of_token[r];
    } else {
      std::copy_n(of_token, rows, out);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();
