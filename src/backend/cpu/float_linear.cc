// y = W·x for float activations: the LM head. F16, BF16 and F32 rows are read as they lie; other formats are decoded
// row by row first.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/float_linear.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/cache_control.h>
// clang-format on

#include "backend/cpu/load_floats-inl.h"
#include "backend/cpu/ops.h"
#include "base/check.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

inline constexpr int kTileRows = 4;
inline constexpr int kTileTokens = 4;

// R rows × N tokens. Every output has its own chain of fused multiply-adds over ascending columns, so that a token's
// logits do not depend on how many are computed at once.
template <int R, int N, class T>
HWY_INLINE void Tile(const T* w, size_t cols, const float* x, float scale, float* out, size_t out_stride) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  VF acc[R][N];
  for (int r = 0; r < R; ++r) {
    for (int t = 0; t < N; ++t) acc[r][t] = hn::Zero(d);
  }
  for (size_t i = 0; i < cols; i += lanes) {
    const size_t n = std::min(lanes, cols - i);
    VF weights[R];
    for (int r = 0; r < R; ++r) {
      const T* at = w + static_cast<size_t>(r) * cols + i;
      hwy::Prefetch(at + R * cols);  // the same place in the next tile
      weights[r] = LoadFloats(at, n);
    }
    for (int t = 0; t < N; ++t) {
      const VF activations = LoadFloats(x + static_cast<size_t>(t) * cols + i, n);
      for (int r = 0; r < R; ++r) acc[r][t] = hn::MulAdd(weights[r], activations, acc[r][t]);
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int t = 0; t < N; ++t) {
      out[static_cast<size_t>(t) * out_stride + static_cast<size_t>(r)] = hn::ReduceSum(d, acc[r][t]) * scale;
    }
  }
}

template <int R, class T>
HWY_INLINE void RowsForAllTokens(const T* w, const ops::FloatLinear& op, int row) {
  const auto cols = static_cast<size_t>(op.w->cols);
  const auto stride = static_cast<size_t>(op.w->rows);
  int t = 0;
  const auto x = [&](int token) { return op.in + static_cast<size_t>(token) * cols; };
  const auto y = [&](int token) { return op.out + static_cast<size_t>(token) * stride + static_cast<size_t>(row); };
  for (; t + kTileTokens <= op.n; t += kTileTokens) Tile<R, kTileTokens>(w, cols, x(t), op.w->scale, y(t), stride);
  for (; t < op.n; ++t) Tile<R, 1>(w, cols, x(t), op.w->scale, y(t), stride);
}

template <class T>
void LinearInPlace(const ops::FloatLinear& op, Share& share) {
  const T* w = reinterpret_cast<const T*>(op.w->data.data());
  const auto cols = static_cast<size_t>(op.w->cols);
  share.for_ranges(op.w->rows, kTileRows, [&](int begin, int end) HWY_ATTR {
    int row = begin;
    for (; row + kTileRows <= end; row += kTileRows)
      RowsForAllTokens<kTileRows>(w + static_cast<size_t>(row) * cols, op, row);
    for (; row < end; ++row) RowsForAllTokens<1>(w + static_cast<size_t>(row) * cols, op, row);
  });
}

void LinearDecoded(const ops::FloatLinear& op, Share& share) {
  const FormatInfo& format = format_info(op.w->format);
  const uint64_t bytes = row_bytes(op.w->format, op.w->cols);
  const std::span<float> weights = share.scratch().first(static_cast<size_t>(op.w->cols));
  share.for_ranges(op.w->rows, 1, [&](int begin, int end) HWY_ATTR {
    for (int row = begin; row < end; ++row) {
      format.decode(op.w->data.subspan(static_cast<uint64_t>(row) * bytes, bytes), weights);
      RowsForAllTokens<1>(weights.data(), op, row);
    }
  });
}

void FloatLinear(const ops::FloatLinear& op, Share& share) {
  if (op.n == 0) return;
  switch (op.w->format) {
    case Format::kF32:
      return LinearInPlace<float>(op, share);
    case Format::kF16:
      return LinearInPlace<hwy::float16_t>(op, share);
    case Format::kBF16:
      return LinearInPlace<hwy::bfloat16_t>(op, share);
    default:
      return LinearDecoded(op, share);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu {

HWY_EXPORT(FloatLinear);
void float_linear(const ops::FloatLinear& op, Share& share) { HWY_DYNAMIC_DISPATCH(FloatLinear)(op, share); }

}  // namespace tern::cpu
#endif
