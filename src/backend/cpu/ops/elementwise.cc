// select_rows, glu_mul, add, add_bias and softcap.
#ifndef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/ops/elementwise.cc"
#endif
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>

#include "backend/cpu/ops/ops.h"
#include "backend/cpu/ops/results-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {

void GluRange(const ops::GluMul& op, int begin, int end) {
  Glu(op.act, op.gate + begin, op.up + begin, static_cast<size_t>(end - begin), op.out + begin);
}

void GluRows(const ops::GluMul& op, int begin, int end) {
  const auto width = static_cast<size_t>(op.width), stride = static_cast<size_t>(op.up_stride);
  for (auto r = static_cast<size_t>(begin); r < static_cast<size_t>(end); ++r) {
    Glu(op.act, op.gate + r * width, op.up + r * stride, width, op.out + r * width);
  }
}

void SoftcapRange(const ops::Softcap& op, int begin, int end) {
  Cap(op.cap, op.x + begin, static_cast<size_t>(end - begin));
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu {
namespace {

constexpr int kGrain = 4096;

}  // namespace

HWY_EXPORT(GluRange);
HWY_EXPORT(GluRows);
HWY_EXPORT(SoftcapRange);

void select_rows(const ops::SelectRows& op, WorkQueue& queue) {
  const auto width = static_cast<size_t>(op.width);
  queue.for_ranges(static_cast<int>(op.rows.size()), 1, [&](int begin, int end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      std::copy_n(op.in + static_cast<size_t>(op.rows[i]) * width, width, op.out + i * width);
    }
  });
}

void glu_mul(const ops::GluMul& op, WorkQueue& queue) {
  if (op.width > 0) {
    const int n_rows = static_cast<int>(op.count) / op.width;
    return queue.for_ranges(n_rows, 16, [&](int begin, int end) { HWY_DYNAMIC_DISPATCH(GluRows)(op, begin, end); });
  }
  queue.for_ranges(static_cast<int>(op.count), kGrain,
                   [&](int begin, int end) { HWY_DYNAMIC_DISPATCH(GluRange)(op, begin, end); });
}

void add(const ops::Add& op, WorkQueue& queue) {
  queue.for_ranges(static_cast<int>(op.count), kGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) op.x[i] = (op.x[i] + op.in[i]) * op.scale;
  });
}

void add_bias(const ops::AddBias& op, WorkQueue& queue) {
  queue.for_ranges(op.n, 1, [&](int begin, int end) {
    for (int row = begin; row < end; ++row) {
      float* const x = op.x + static_cast<size_t>(row) * static_cast<size_t>(op.width);
      for (int i = 0; i < op.width; ++i) x[i] += op.bias[i];
    }
  });
}

void softcap(const ops::Softcap& op, WorkQueue& queue) {
  queue.for_ranges(static_cast<int>(op.count), kGrain,
                   [&](int begin, int end) { HWY_DYNAMIC_DISPATCH(SoftcapRange)(op, begin, end); });
}

}  // namespace tern::cpu
#endif
