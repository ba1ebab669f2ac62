// quantize, rms_norm, and both in one pass: the ops on rows of activations.
#ifndef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/ops/activations.cc"
#endif
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "backend/cpu/ops/ops.h"
#include "backend/cpu/ops/rms_norm_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

// The bits of |x|. As integers they have the order of the magnitudes, with infinities and then NaN last. So a maximum
// costs the same as with floats, and no value that is not finite gets lost in it.
template <class D>
HWY_INLINE auto MagnitudeBits([[maybe_unused]] D d, hn::Vec<D> x) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(di, hn::Abs(x));
}
inline constexpr int32_t kInfinityBits = 0x7F800000;

// The bits of the largest |x[i]|. The result does not depend on the order.
int32_t MaxMagnitudeBits(const float* x, size_t width) {
  const DF d;
  const hn::RebindToSigned<DF> di;
  const size_t lanes = hn::Lanes(d);
  auto largest = hn::Zero(di);
  size_t i = 0;
  for (; i + lanes <= width; i += lanes) largest = hn::Max(largest, MagnitudeBits(d, hn::LoadU(d, x + i)));
  if (i < width) largest = hn::Max(largest, MagnitudeBits(d, hn::LoadN(d, x + i, width - i)));
  return hn::ReduceMax(di, largest);
}

// The result of ref::quantize for values that are not all finite.
void PutNoNumbers(size_t n, int8_t* q, float* out_scale, int32_t* out_sum) {
  std::fill_n(q, n, int8_t{0});
  *out_scale = std::numeric_limits<float>::quiet_NaN();
  *out_sum = 0;
}

// Uses the same float operations as ref::quantize, so the integers are the same.
void QuantizeRow(const float* x, size_t width, int8_t* q, float* out_scale, int32_t* out_sum) {
  const DF d;
  const hn::RebindToSigned<DF> di;
  const hn::Rebind<int8_t, DF> d8;
  const size_t lanes = hn::Lanes(d);
  const int32_t largest = MaxMagnitudeBits(x, width);
  if (largest >= kInfinityBits) return PutNoNumbers(width, q, out_scale, out_sum);
  const float scale = 127.0f / std::max(std::bit_cast<float>(largest), 1e-5f);
  const VF vscale = hn::Set(d, scale);
  auto sum = hn::Zero(di);
  size_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    const auto rounded = hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), vscale));
    const auto clamped = hn::Min(hn::Max(rounded, hn::Set(di, -128)), hn::Set(di, 127));
    sum = hn::Add(sum, clamped);
    hn::StoreU(hn::DemoteTo(d8, clamped), d8, q + i);
  }
  if (i < width) {
    const auto rounded = hn::NearestInt(hn::Mul(hn::LoadN(d, x + i, width - i), vscale));
    const auto clamped = hn::Min(hn::Max(rounded, hn::Set(di, -128)), hn::Set(di, 127));
    sum = hn::Add(sum, clamped);  // lanes past the end are 0
    hn::StoreN(hn::DemoteTo(d8, clamped), d8, q + i, width - i);
  }
  *out_scale = scale;
  *out_sum = hn::ReduceSum(di, sum);
}

float SumOfSquares(const float* x, size_t width) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  VF a = hn::Zero(d), b = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * lanes <= width; i += 2 * lanes) {
    const VF u = hn::LoadU(d, x + i);
    const VF v = hn::LoadU(d, x + i + lanes);
    a = hn::MulAdd(u, u, a);
    b = hn::MulAdd(v, v, b);
  }
  for (; i < width; i += lanes) {
    const VF u = hn::LoadN(d, x + i, std::min(lanes, width - i));
    a = hn::MulAdd(u, u, a);
  }
  return hn::ReduceSum(d, hn::Add(a, b));
}

void RmsNormRow(const float* x, const float* gain, float eps, size_t width, float* out) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  const float factor = 1.0f / std::sqrt(SumOfSquares(x, width) / static_cast<float>(width) + eps);
  const VF vfactor = hn::Set(d, factor);
  for (size_t i = 0; i < width; i += lanes) {
    const size_t n = std::min(lanes, width - i);
    if (n == lanes) {
      hn::StoreU(hn::Mul(hn::Mul(hn::LoadU(d, x + i), vfactor), hn::LoadU(d, gain + i)), d, out + i);
    } else {
      hn::StoreN(hn::Mul(hn::Mul(hn::LoadN(d, x + i, n), vfactor), hn::LoadN(d, gain + i, n)), d, out + i, n);
    }
  }
}

void QuantizeRows(const ops::Quantize& op, WorkQueue& queue) {
  const auto width = static_cast<size_t>(op.width);
  queue.for_ranges(op.n, 1, [&](int begin, int end) HWY_ATTR {
    for (auto r = static_cast<size_t>(begin); r < static_cast<size_t>(end); ++r) {
      QuantizeRow(op.in + r * width, width, op.out.q + r * width, op.out.scale + r, op.out.sum + r);
    }
  });
}

// Uses the same float operations as ref::quantize_blocks, so the integers are the same. A block is whole vectors or a
// part of one.
void QuantizeBlock(const float* x, int8_t* q, float* out_scale, int32_t* out_sum) {
  const hn::CappedTag<float, kInt8Block> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<int8_t, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d);
  auto largest = hn::Zero(di);
  for (size_t i = 0; i < kInt8Block; i += lanes) largest = hn::Max(largest, MagnitudeBits(d, hn::LoadU(d, x + i)));
  const int32_t bits = hn::ReduceMax(di, largest);
  if (bits >= kInfinityBits) return PutNoNumbers(kInt8Block, q, out_scale, out_sum);
  const auto magnitude = std::bit_cast<float>(bits);
  const auto inverse = hn::Set(d, magnitude > 0 ? 127.0f / magnitude : 0.0f);
  auto sum = hn::Zero(di);
  for (size_t i = 0; i < kInt8Block; i += lanes) {
    const auto rounded = hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), inverse));
    sum = hn::Add(sum, rounded);
    hn::StoreU(hn::DemoteTo(d8, rounded), d8, q + i);
  }
  *out_scale = magnitude / 127.0f;
  *out_sum = hn::ReduceSum(di, sum);
}

void QuantizeRowsInBlocks(const ops::QuantizeBlocks& op, WorkQueue& queue) {
  constexpr int kGrain = 64;
  const int n_blocks = op.n * (op.width / kInt8Block);
  queue.for_ranges(n_blocks, kGrain, [&](int begin, int end) HWY_ATTR {
    for (auto b = static_cast<size_t>(begin); b < static_cast<size_t>(end); ++b) {
      QuantizeBlock(op.in + b * kInt8Block, op.out.q + b * kInt8Block, op.out.scale + b, op.out.sum + b);
    }
  });
}

void RmsNormRows(const ops::RmsNorm& op, WorkQueue& queue) {
  const auto width = static_cast<size_t>(op.width);
  queue.for_ranges(op.n, 1, [&](int begin, int end) HWY_ATTR {
    for (auto r = static_cast<size_t>(begin); r < static_cast<size_t>(end); ++r) {
      RmsNormRow(op.in + r * width, op.gain, op.eps, width, op.out + r * width);
    }
  });
}

void RmsNormQuantizeRows(const ops::RmsNormQuantize& op, WorkQueue& queue) {
  const auto width = static_cast<size_t>(op.width);
  float* normed = queue.scratch().data();
  queue.for_ranges(op.n, 1, [&](int begin, int end) HWY_ATTR {
    for (auto r = static_cast<size_t>(begin); r < static_cast<size_t>(end); ++r) {
      RmsNormRow(op.in + r * width, op.gain, op.eps, width, normed);
      QuantizeRow(normed, width, op.out.q + r * width, op.out.scale + r, op.out.sum + r);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu {

HWY_EXPORT(QuantizeRows);
HWY_EXPORT(QuantizeRowsInBlocks);
HWY_EXPORT(RmsNormRows);
HWY_EXPORT(RmsNormQuantizeRows);

void quantize(const ops::Quantize& op, WorkQueue& queue) { HWY_DYNAMIC_DISPATCH(QuantizeRows)(op, queue); }
void quantize_blocks(const ops::QuantizeBlocks& op, WorkQueue& queue) {
  HWY_DYNAMIC_DISPATCH(QuantizeRowsInBlocks)(op, queue);
}
void rms_norm(const ops::RmsNorm& op, WorkQueue& queue) { HWY_DYNAMIC_DISPATCH(RmsNormRows)(op, queue); }
void rms_norm_quantize(const ops::RmsNormQuantize& op, WorkQueue& queue) {
  HWY_DYNAMIC_DISPATCH(RmsNormQuantizeRows)(op, queue);
}

}  // namespace tern::cpu
#endif
