// Two-bit codes on float activations, in vectors: codes are converted to floats, then multiplied and added.
//
// As many bytes as a vector has floats are widened to 32 bits. Masking one plane leaves code · 4^k, which is converted
// to float without a shift, because the activations of that plane are divided by 4^k once (exactly). Codes are w + 1,
// and Σ w·x = Σ code·x − Σ x.
//
// This takes three instructions per vector of floats: 0.4 per weight with 8 lanes. So the processor is the limit, not
// the memory. The same loop on int8 has four times as many weights in a vector.
#ifndef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/study/two_bit_float.cc"
#endif
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/cache_control.h>
// clang-format on

#include "backend/cpu/study/kernel_rows.h"
#include "backend/cpu/study/two_bit.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu::study {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace two_bit_float {

using DF = hn::CappedTag<float, 16>;
using DI32 = hn::RebindToSigned<DF>;
using VF = hn::Vec<DF>;
using VI32 = hn::Vec<DI32>;

inline constexpr size_t kPrefetchBytes = 1024;

// sum += (code · 4^(3 − plane)) · x for one plane of the codes in `bytes`.
template <int kPlane>
HWY_INLINE VF AddPlane(VI32 bytes, const float* x, VF sum) {
  const DF d;
  const VI32 code = hn::And(bytes, hn::Set(DI32(), 3 << (6 - 2 * kPlane)));
  return hn::MulAdd(hn::ConvertTo(d, code), hn::LoadU(d, x + 32 * kPlane), sum);
}

// Σ code·x of one row; x has its planes divided.
HWY_INLINE float FloatDot(const uint8_t* codes, const float* x, size_t n_bytes) {
  const DF d;
  const DI32 di32;
  const hn::Rebind<uint8_t, DF> d8;
  const size_t lanes = hn::Lanes(d);
  VF sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  for (size_t block = 0; block < n_bytes; block += kI2sBlockBytes, x += kI2sBlock) {
    hwy::Prefetch(codes + block + kPrefetchBytes);
    for (size_t p = 0; p < kI2sBlockBytes; p += lanes) {
      const VI32 bytes = hn::PromoteTo(di32, hn::LoadU(d8, codes + block + p));
      sum[0] = AddPlane<0>(bytes, x + p, sum[0]);
      sum[1] = AddPlane<1>(bytes, x + p, sum[1]);
      sum[2] = AddPlane<2>(bytes, x + p, sum[2]);
      sum[3] = AddPlane<3>(bytes, x + p, sum[3]);
    }
  }
  return hn::ReduceSum(d, hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3])));
}

void Multiply(const Packed& w, const std::byte* prepared, WorkQueue& queue, float* y) {
  const auto row_bytes = static_cast<size_t>(two_bit_row_bytes(w.cols));
  const auto* x = reinterpret_cast<const float*>(prepared);
  const float sum_x = x[4 * row_bytes];
  queue.for_ranges(w.rows, kRowGrain, [&](int begin, int end) HWY_ATTR {
    for (int row = begin; row < end; ++row) {
      y[row] = (FloatDot(w.bytes() + static_cast<size_t>(row) * row_bytes, x, row_bytes) - sum_x) * w.scale;
    }
  });
}

}  // namespace two_bit_float

void TwoBitFloatMultiply(const Packed& w, const std::byte* prepared, WorkQueue& queue, float* y) {
  two_bit_float::Multiply(w, prepared, queue, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu::study
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu::study {
namespace {

HWY_EXPORT(TwoBitFloatMultiply);

// Writes the row with its planes divided by 64, 16, 4 and 1, padded with zeros, and then Σ x.
void two_bit_float_prepare(const Packed& w, const float* x, std::byte* out) {
  auto* divided = reinterpret_cast<float*>(out);
  const auto padded = static_cast<size_t>(two_bit_cols(w.cols));
  std::copy_n(x, w.cols, divided);
  std::fill(divided + w.cols, divided + padded, 0.0f);
  double sum[4] = {};
  for (int i = 0; i < w.cols; ++i) sum[i % 4] += static_cast<double>(x[i]);
  constexpr float kFactor[] = {1.0f / 64, 1.0f / 16, 1.0f / 4, 1.0f};
  for (size_t i = 0; i < padded; ++i) divided[i] *= kFactor[i / 32 % 4];
  divided[padded] = static_cast<float>(sum[0] + sum[1] + sum[2] + sum[3]);
}

}  // namespace

Kernel two_bit_float_kernel() {
  return {.name = "2bit-float",
          .packing = kTwoBit,
          .activations = Activations::kFloat,
          .is_vectors = true,
          .what = "vectors of codes converted to floats, fused multiply-adds",
          .prepared_bytes = [](int64_t cols) { return static_cast<uint64_t>(two_bit_cols(cols) + 1) * sizeof(float); },
          .prepare = two_bit_float_prepare,
          .multiply = [](auto... args) { return HWY_DYNAMIC_DISPATCH(TwoBitFloatMultiply)(args...); },
          // Four chains of vectors of at least four lanes and their sum, over Σ |code·x| ≤ 2·Σ|x|; then Σ x and the
          // difference, at most three times Σ|x|, and the scale. Without fused multiply-adds, a product is rounded only
          // if its code has more than one bit set, which no code here has.
          .roundings = [](int64_t cols) { return 2 * (static_cast<double>(two_bit_cols(cols)) / 16 + 6) + 8; }};
}

}  // namespace tern::cpu::study
#endif
