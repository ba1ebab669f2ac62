// The weights as float32, the baseline for all packings. It has 20 times the bytes of base 3 and no unpacking, so
// memory is its only limit.
#ifndef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/study/f32.cc"
#endif
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/cache_control.h>
// clang-format on

#include "backend/cpu/study/kernel_rows.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu::study {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace f32 {

inline constexpr size_t kPrefetchFloats = 512;

float F32Dot(const float* w, const float* x, size_t cols) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  size_t i = 0;
  for (; i + 4 * lanes <= cols; i += 4 * lanes) {
    for (size_t line = 0; line < 4 * lanes; line += 16) hwy::Prefetch(w + i + kPrefetchFloats + line);
    a = hn::MulAdd(hn::LoadU(d, w + i), hn::LoadU(d, x + i), a);
    b = hn::MulAdd(hn::LoadU(d, w + i + lanes), hn::LoadU(d, x + i + lanes), b);
    c = hn::MulAdd(hn::LoadU(d, w + i + 2 * lanes), hn::LoadU(d, x + i + 2 * lanes), c);
    e = hn::MulAdd(hn::LoadU(d, w + i + 3 * lanes), hn::LoadU(d, x + i + 3 * lanes), e);
  }
  for (; i < cols; i += lanes) {
    const size_t n = std::min(lanes, cols - i);
    a = hn::MulAdd(hn::LoadN(d, w + i, n), hn::LoadN(d, x + i, n), a);
  }
  return hn::ReduceSum(d, hn::Add(hn::Add(a, b), hn::Add(c, e)));
}

void Multiply(const Packed& w, const std::byte* prepared, WorkQueue& queue, float* y) {
  const auto* weights = reinterpret_cast<const float*>(w.data.data());
  const auto* x = reinterpret_cast<const float*>(prepared);
  const auto cols = static_cast<size_t>(w.cols);
  queue.for_ranges(w.rows, kRowGrain, [&](int begin, int end) HWY_ATTR {
    for (int row = begin; row < end; ++row) {
      y[row] = F32Dot(weights + static_cast<size_t>(row) * cols, x, cols) * w.scale;
    }
  });
}

}  // namespace f32

void F32Multiply(const Packed& w, const std::byte* prepared, WorkQueue& queue, float* y) {
  f32::Multiply(w, prepared, queue, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu::study
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu::study {
namespace {

HWY_EXPORT(F32Multiply);

uint64_t f32_bytes(int64_t rows, int64_t cols) { return static_cast<uint64_t>(rows * cols) * sizeof(float); }

void f32_pack(const Codes& codes, MutableBytes out) {
  for (size_t i = 0; i < codes.values.size(); ++i) {
    store(out.data() + i * sizeof(float), static_cast<float>(codes.values[i]));
  }
}

}  // namespace

Kernel f32_kernel() {
  return {.name = "f32",
          .packing = {"f32", f32_bytes, f32_pack, alignof(float)},
          .activations = Activations::kFloat,
          .is_vectors = true,
          .what = "a float for each weight, fused multiply-adds",
          .prepared_bytes = [](int64_t cols) { return static_cast<uint64_t>(cols) * sizeof(float); },
          .prepare = [](const Packed& w, const float* x,
                        std::byte* out) { std::copy_n(x, w.cols, reinterpret_cast<float*>(out)); },
          .multiply = [](auto... args) { return HWY_DYNAMIC_DISPATCH(F32Multiply)(args...); },
          // Four chains of vectors of at least four lanes, then the sums over chains and lanes, and the scale.
          .roundings = [](int64_t cols) { return static_cast<double>(cols) / 16 + 12; }};
}

}  // namespace tern::cpu::study
#endif
