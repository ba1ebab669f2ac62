// copy, glu_mul and add.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/elementwise.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>

#include "backend/cpu/ops.h"
#include "backend/cpu/results-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {

void GluRange(const ops::GluMul& op, int begin, int end) {
  Glu(op.act, op.gate + begin, op.up + begin, static_cast<size_t>(end - begin), op.out + begin);
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

void copy(const ops::Copy& op, Share& share) {
  share.for_ranges(static_cast<int>(op.count), kGrain,
                   [&](int begin, int end) { std::copy(op.in + begin, op.in + end, op.out + begin); });
}

void glu_mul(const ops::GluMul& op, Share& share) {
  share.for_ranges(static_cast<int>(op.count), kGrain,
                   [&](int begin, int end) { HWY_DYNAMIC_DISPATCH(GluRange)(op, begin, end); });
}

void add(const ops::Add& op, Share& share) {
  share.for_ranges(static_cast<int>(op.count), kGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) op.x[i] += op.in[i];
  });
}

}  // namespace tern::cpu
#endif
