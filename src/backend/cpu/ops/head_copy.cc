// The copy is made in two passes over a row: first its largest value and its length, then the codes and their errors.
#ifndef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/ops/head_copy.cc"
#endif
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "backend/cpu/ops/head_copy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/ops/load_floats-inl.h"
#include "base/check.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

namespace head_copy {

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

struct CopiedRow {
  float scale, error, norm;
};

// Stores the codes of `w` / scale. Returns the computed sum of squares of their errors.
template <class T>
HWY_INLINE float PutCodes(const T* w, size_t cols, float scale, uint8_t* codes) {
  const DF d;
  const hn::RebindToSigned<DF> di;
  const hn::Rebind<uint8_t, DF> du8;
  const size_t lanes = hn::Lanes(d);
  const VF unit = hn::Set(d, scale), inverse = hn::Set(d, scale > 0 ? 1 / scale : 0), most = hn::Set(d, 127.0f);
  VF squares = hn::Zero(d);
  for (size_t i = 0; i < cols; i += lanes) {
    const size_t n = std::min(lanes, cols - i);
    const VF values = LoadFloats(w + i, n);
    const auto code = hn::NearestInt(hn::Clamp(hn::Mul(values, inverse), hn::Neg(most), most));
    const VF missed = hn::NegMulAdd(unit, hn::ConvertTo(d, code), values);
    squares = hn::MulAdd(missed, missed, squares);
    const auto stored = hn::DemoteTo(du8, hn::Add(code, hn::Set(di, 128)));
    n == lanes ? hn::StoreU(stored, du8, codes + i) : hn::StoreN(stored, du8, codes + i, n);
  }
  return hn::ReduceSum(d, squares);
}

template <class T>
CopiedRow CopyRow(const T* w, size_t cols, uint8_t* codes) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  VF greatest = hn::Zero(d), squares = hn::Zero(d);
  for (size_t i = 0; i < cols; i += lanes) {
    const VF values = LoadFloats(w + i, std::min(lanes, cols - i));
    greatest = hn::Max(greatest, hn::Abs(values));
    squares = hn::MulAdd(values, values, squares);
  }
  const float sum = hn::ReduceSum(d, squares);
  if (!(sum <= 0x1p100f)) {  // or NaN
    std::fill_n(codes, cols, uint8_t{128});
    return {.scale = 0, .error = std::numeric_limits<float>::infinity(), .norm = 0};
  }
  float scale = hn::ReduceMax(d, greatest) / 127.0f;
  if (scale < 0x1p-100f) scale = 0;  // its inverse must be finite, and its products normal
  const float missed = PutCodes(w, cols, scale, codes);
  const double norm = length_above(sum, cols);
  // Without fused multiply-adds, a difference is also off by 2⁻²⁴ of its operands.
  const double error = (length_above(missed, cols) + 0x1p-22 * norm) * (1 + 0x1p-21);
  return {.scale = scale, .error = float_above(error), .norm = float_above(norm)};
}

CopiedRow CopyRowOf(const Tensor& w, int row, uint8_t* codes) {
  const auto cols = static_cast<size_t>(w.cols), first = static_cast<size_t>(row) * cols;
  switch (w.format) {
    case Format::kF32:
      return CopyRow(reinterpret_cast<const float*>(w.data.data()) + first, cols, codes);
    case Format::kF16:
      return CopyRow(reinterpret_cast<const hwy::float16_t*>(w.data.data()) + first, cols, codes);
    case Format::kBF16:
      return CopyRow(reinterpret_cast<const hwy::bfloat16_t*>(w.data.data()) + first, cols, codes);
    default:
      CHECK(false);
  }
}

}  // namespace head_copy

void CopyRows(const HeadCopy& copy, int begin, int end) {
  for (int row = begin; row < end; ++row) {
    const auto copied = head_copy::CopyRowOf(*copy.w, row, copy.codes + static_cast<size_t>(row) * copy.stride);
    copy.scale[row] = copied.scale;
    copy.error[row] = copied.error;
    copy.norm[row] = copied.norm;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "backend/cpu/ops/work_queue.h"
#include "base/text/format_text.h"

namespace tern::cpu {

HWY_EXPORT(CopyRows);

double length_above(float sum, size_t n) {
  const double squares = static_cast<double>(sum) + static_cast<double>(n) * 0x1p-149;
  return std::sqrt(squares * (1 + static_cast<double>(n + 16) * 0x1p-23));
}

float float_above(double x) { return static_cast<float>(x * (1 + 0x1p-20)) + std::numeric_limits<float>::min(); }

namespace {

size_t stride_for(int cols) { return (static_cast<size_t>(cols) + 63) / 64 * 64; }

size_t whole_groups(int rows) { return (static_cast<size_t>(rows) + kHeadGroup - 1) / kHeadGroup * kHeadGroup; }

}  // namespace

uint64_t HeadCopy::bytes_per_token() const { return static_cast<uint64_t>(w->rows) * (stride + 3 * sizeof(float)); }

bool can_copy_head(const Tensor& w) { return can_have_copy(w) && w.data.is_resident(); }

uint64_t head_copy_bytes(int rows, int cols) {
  return static_cast<uint64_t>(rows) * stride_for(cols) + 3 * whole_groups(rows) * sizeof(float);
}

Result<HeadCopy> copy_head(const Tensor& w, ThreadPool& pool) {
  CHECK(can_copy_head(w));
  HeadCopy copy{.w = &w, .stride = stride_for(w.cols), .memory = {}};
  TRY(copy.memory, HostMemory::allocate(head_copy_bytes(w.rows, w.cols), "the head's int8 copy"));
  copy.memory.advise_huge_pages();
  const size_t n = whole_groups(w.rows);
  copy.codes = reinterpret_cast<uint8_t*>(copy.memory.data());
  copy.scale = reinterpret_cast<float*>(copy.codes + static_cast<size_t>(w.rows) * copy.stride);
  copy.error = copy.scale + n;
  copy.norm = copy.error + n;
  std::atomic<int> next = 0;
  pool.run([&](int) {
    WorkQueue queue(next, pool.size(), {});
    queue.for_ranges(w.rows, kHeadGroup, [&](int begin, int end) { HWY_DYNAMIC_DISPATCH(CopyRows)(copy, begin, end); });
  });
  return copy;
}

Result<HeadCopy> copy_head_of(const Plan& plan, ExactHead wanted, uint64_t most_bytes, ThreadPool& pool) {
  const auto need_of = [](const Tensor& w) {
    return HeadCopyNeed{.bytes = head_copy_bytes(w.rows, w.cols),
                        .cannot = w.data.is_resident() ? "" : "it is not in memory"};
  };
  TRY(const Tensor* head, head_to_copy(plan, wanted, most_bytes, need_of));
  if (!head) return HeadCopy{};
  auto copy = copy_head(*head, pool);
  if (!copy && wanted == ExactHead::kWherePays) return HeadCopy{};
  return copy;
}

}  // namespace tern::cpu
#endif
