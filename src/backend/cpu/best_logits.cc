// An activation becomes X = round(x / t), 14 bits with the sign, cut into X = 128·hi + lo with |hi| ≤ 64 and
// −64 ≤ lo ≤ 63. Codes are c + 128 ∈ 1 … 255, so that a pair of products is at most 2·255·64 = 32640: it fits 16 bits
// on instruction sets whose dot products of bytes saturate there. The sums are exact.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/best_logits.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "backend/cpu/best_logits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/fetch_ahead.h"
#include "backend/cpu/load_floats-inl.h"
#include "backend/cpu/ops.h"
#include "base/check.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace best_logits {

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;
using DU8 = hn::ScalableTag<uint8_t>;
using DI8 = hn::RebindToSigned<DU8>;
using DI16 = hn::Repartition<int16_t, DU8>;
using DI32 = hn::Repartition<int32_t, DU8>;
using VI32 = hn::Vec<DI32>;

#if HWY_TARGET <= HWY_AVX3_DL && HWY_ARCH_X86
inline constexpr bool kHasDot4 = true;  // vpdpbusd
#else
inline constexpr bool kHasDot4 = false;
#endif

inline constexpr int kMostX = 8191;  // |X|: hi is 64 at most

// A token's activations as integers, in the worker's scratch memory.
struct Activations {
  const int8_t* hi;  // [stride], 0 beyond the columns
  const int8_t* lo;
  int32_t sum_hi, sum_lo;
  float step;  // t
};

struct Rounded {
  int32_t sum_hi, sum_lo;
  float missed;  // the computed ‖x − t·X‖²
};

Rounded PutIntegers(const float* x, size_t cols, size_t stride, float step, int8_t* hi, int8_t* lo) {
  const DF d;
  const hn::RebindToSigned<DF> di;
  const hn::Rebind<int8_t, DF> di8;
  const size_t lanes = hn::Lanes(d);
  const VF unit = hn::Set(d, step), inverse = hn::Set(d, 1 / step), most = hn::Set(d, static_cast<float>(kMostX));
  auto sum_hi = hn::Zero(di), sum_lo = hn::Zero(di);
  VF squares = hn::Zero(d);
  for (size_t i = 0; i < stride; i += lanes) {
    const VF values = i < cols ? LoadFloats(x + i, std::min(lanes, cols - i)) : hn::Zero(d);
    const auto integer = hn::NearestInt(hn::Clamp(hn::Mul(values, inverse), hn::Neg(most), most));
    const VF missed = hn::NegMulAdd(unit, hn::ConvertTo(d, integer), values);
    squares = hn::MulAdd(missed, missed, squares);
    const auto high = hn::ShiftRight<7>(hn::Add(integer, hn::Set(di, 64)));
    const auto low = hn::Sub(integer, hn::ShiftLeft<7>(high));
    sum_hi = hn::Add(sum_hi, high);
    sum_lo = hn::Add(sum_lo, low);
    hn::StoreU(hn::DemoteTo(di8, high), di8, hi + i);
    hn::StoreU(hn::DemoteTo(di8, low), di8, lo + i);
  }
  return {hn::ReduceSum(di, sum_hi), hn::ReduceSum(di, sum_lo), hn::ReduceSum(d, squares)};
}

// False: the activations are not finite, or their length is so small or great that products could leave the range of
// floats.
bool Prepare(const float* x, const HeadCopy& copy, std::span<float> scratch, Activations& out, LogitBound& bound) {
  const DF d;
  const auto cols = static_cast<size_t>(copy.w->cols);
  VF greatest = hn::Zero(d), squares = hn::Zero(d);
  for (size_t i = 0; i < cols; i += hn::Lanes(d)) {
    const VF values = LoadFloats(x + i, std::min(hn::Lanes(d), cols - i));
    greatest = hn::Max(greatest, hn::Abs(values));
    squares = hn::MulAdd(values, values, squares);
  }
  const float sum = hn::ReduceSum(d, squares), most = hn::ReduceMax(d, greatest);
  if (!(sum <= 0x1p100f) || !(most >= 0x1p-50f)) return false;

  auto* hi = reinterpret_cast<int8_t*>(scratch.data()) + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
  auto* lo = hi + copy.stride;
  const float step = most / static_cast<float>(kMostX);
  const Rounded rounded = PutIntegers(x, cols, copy.stride, step, hi, lo);
  out = {.hi = hi, .lo = lo, .sum_hi = rounded.sum_hi, .sum_lo = rounded.sum_lo, .step = step};

  // The names are those of the proof.
  const double length = length_above(sum, cols);
  const double delta = (length_above(rounded.missed, cols) + 0x1p-22 * length) * (1 + 0x1p-21);
  const double reach = length + delta + 128.0 * static_cast<double>(step) * std::sqrt(static_cast<double>(cols));
  const double eta = static_cast<double>(cols + 32) * 0x1p-24 * (1 + 0x1p-7);
  bound = {.per_error = float_above(length + delta + eta * reach),
           .per_norm = float_above(delta + eta * reach),
           .at_least = static_cast<float>(cols) * 0x1p-100f};
  return true;
}

HWY_INLINE VI32 Dot4(hn::Vec<DU8> codes, hn::Vec<DI8> q, VI32 acc) {
  const DI32 di32;
  if constexpr (kHasDot4) {
    return hn::SumOfMulQuadAccumulate(di32, codes, q, acc);
  } else {
    const DI16 di16;
    return hn::Add(acc, hn::WidenMulPairwiseAdd(di32, hn::SatWidenMulPairwiseAdd(di16, codes, q), hn::Set(di16, 1)));
  }
}

// Σ c·hi and Σ c·lo of one row. Rows are read one after another, as they lie.
HWY_INLINE void DotRow(const uint8_t* codes, size_t stride, const Activations& x, int32_t& hi, int32_t& lo) {
  const DU8 d;
  const DI8 di8;
  const FetchAhead ahead = weights_ahead();
  VI32 sum_hi = hn::Zero(DI32()), sum_lo = hn::Zero(DI32());
  for (size_t line = 0; line < stride; line += kCacheLine) {
    fetch_ahead(codes + line, ahead);
    for (size_t i = line; i < line + kCacheLine; i += hn::Lanes(d)) {
      const auto some = hn::Load(d, codes + i);
      sum_hi = Dot4(some, hn::Load(di8, x.hi + i), sum_hi);
      sum_lo = Dot4(some, hn::Load(di8, x.lo + i), sum_lo);
    }
  }
  hi = hn::ReduceSum(DI32(), sum_hi) - 128 * x.sum_hi;  // codes are c + 128
  lo = hn::ReduceSum(DI32(), sum_lo) - 128 * x.sum_lo;
}

// Of the rows of one group that begins at `row`.
HWY_INLINE VF BoundOf(const HeadCopy& copy, const LogitBound& bound, size_t row) {
  const DF d;
  return hn::MulAdd(hn::LoadU(d, copy.error + row), hn::Set(d, bound.per_error),
                    hn::MulAdd(hn::LoadU(d, copy.norm + row), hn::Set(d, bound.per_norm), hn::Set(d, bound.at_least)));
}

using Group = float[kHeadGroup];

// Estimates, and what the logits are at least.
HWY_INLINE void EstimateGroup(const HeadCopy& copy, const Activations& x, const LogitBound& bound, int row, int n,
                              Group& estimates, Group& lower) {
  const DF d;
  const hn::RebindToSigned<DF> di;
  HWY_ALIGN int32_t hi[kHeadGroup] = {};
  HWY_ALIGN int32_t lo[kHeadGroup] = {};
  const uint8_t* codes = copy.codes + static_cast<size_t>(row) * copy.stride;
  for (int i = 0; i < n; ++i, codes += copy.stride) DotRow(codes, copy.stride, x, hi[i], lo[i]);
  const VF step = hn::Set(d, x.step), step_hi = hn::Set(d, 128 * x.step);
  for (size_t i = 0; i < kHeadGroup; i += hn::Lanes(d)) {
    const VF high = hn::Mul(step_hi, hn::ConvertTo(d, hn::Load(di, hi + i)));
    const VF dot = hn::MulAdd(step, hn::ConvertTo(d, hn::Load(di, lo + i)), high);
    const size_t at = static_cast<size_t>(row) + i;
    const VF estimate = hn::Mul(dot, hn::LoadU(d, copy.scale + at));
    hn::StoreU(estimate, d, estimates + i);
    hn::StoreU(hn::Sub(estimate, BoundOf(copy, bound, at)), d, lower + i);
  }
}

// Keeps the k greatest of all that are offered.
void Offer(float value, size_t k, std::vector<float>& heap) {
  if (heap.size() == k) {
    if (!(value > heap.front())) return;
    std::ranges::pop_heap(heap, std::greater<>());
    heap.pop_back();
  }
  heap.push_back(value);
  std::ranges::push_heap(heap, std::greater<>());
}

bool Estimate(const BestLogitsJob& job, size_t n_best, LogitBound& bound, std::vector<float>& best) {
  Activations x;
  if (!Prepare(job.op.in.x, job.copy, job.share.scratch(), x, bound)) return false;
  job.share.for_ranges(job.op.w->rows, kHeadGroup, [&](int begin, int end) {
    for (int row = begin; row < end; row += kHeadGroup) {
      const int n = std::min(kHeadGroup, end - row);
      Group estimates, lower;
      EstimateGroup(job.copy, x, bound, row, n, estimates, lower);
      std::copy_n(estimates, n, job.op.out + row);
      for (int i = 0; i < n; ++i) Offer(lower[i], n_best, best);
    }
  });
  return true;
}

// Replaces the estimates; returns how many by results.
int Rescore(const BestLogitsJob& job, const LogitBound& bound, float least) {
  const DF d;
  int n_rescored = 0;
  job.share.for_ranges(job.op.w->rows, kHeadGroup, [&](int begin, int end) {
    for (int row = begin; row < end; row += kHeadGroup) {
      const int n = std::min(kHeadGroup, end - row);
      float* const out = job.op.out + row;
      Group upper = {};
      std::copy_n(out, n, upper);
      for (size_t i = 0; i < kHeadGroup; i += hn::Lanes(d)) {
        const VF above = BoundOf(job.copy, bound, static_cast<size_t>(row) + i);
        hn::StoreU(hn::Add(hn::LoadU(d, upper + i), above), d, upper + i);
      }
      for (int i = 0; i < n; ++i) {
        const bool may_be_best = upper[i] >= least;
        out[i] = may_be_best ? float_row(*job.op.w, row + i, job.op.in.x) : -std::numeric_limits<float>::infinity();
        n_rescored += may_be_best ? 1 : 0;
      }
    }
  });
  return n_rescored;
}

}  // namespace best_logits

bool Estimate(const BestLogitsJob& job, size_t n_best, LogitBound& bound, std::vector<float>& best) {
  return best_logits::Estimate(job, n_best, bound, best);
}
int Rescore(const BestLogitsJob& job, const LogitBound& bound, float least) {
  return best_logits::Rescore(job, bound, least);
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu {

HWY_EXPORT(Estimate);
HWY_EXPORT(Rescore);

namespace {

// Where most rows are computed twice in effect, a copy only costs; now and then it is tried again.
constexpr int kPause = 31;

}  // namespace

BestLogits::BestLogits(HeadCopy copy, int n_workers)
    : copy_(std::move(copy)), workers_(static_cast<size_t>(n_workers)) {
  for (Worker& worker : workers_) worker.best.reserve(kMostBestLogits);
  all_best_.reserve(workers_.size() * kMostBestLogits);
}

bool BestLogits::begin(int n_best) {
  if (n_best <= 0 || n_best > kMostBestLogits || n_best >= copy_.w->rows) return false;
  if (n_rescored() > copy_.w->rows / 2) n_paused_ = kPause;
  n_rescored_.store(0, std::memory_order_relaxed);
  if (n_paused_ > 0) {
    --n_paused_;
    return false;
  }
  n_best_ = static_cast<size_t>(n_best);
  for (Worker& worker : workers_) worker.best.clear();
  return true;
}

bool BestLogits::estimate(const ops::FloatLinear& op, int worker, Share& share) {
  CHECK(op.n == 1 && op.in.x && op.w == copy_.w && op.store == ops::Store::kSet);
  Worker& own = workers_[static_cast<size_t>(worker)];
  return HWY_DYNAMIC_DISPATCH(Estimate)({op, copy_, share}, n_best_, own.bound, own.best);
}

void BestLogits::choose() {
  all_best_.clear();
  for (const Worker& worker : workers_) all_best_.insert(all_best_.end(), worker.best.begin(), worker.best.end());
  const auto last = all_best_.begin() + static_cast<ptrdiff_t>(n_best_) - 1;  // there are more rows than n_best
  std::ranges::nth_element(all_best_, last, std::greater<>());
  least_ = *last;
}

void BestLogits::rescore(const ops::FloatLinear& op, int worker, Share& share) {
  const LogitBound& bound = workers_[static_cast<size_t>(worker)].bound;
  const int n = HWY_DYNAMIC_DISPATCH(Rescore)({op, copy_, share}, bound, least_);
  n_rescored_.fetch_add(n, std::memory_order_relaxed);
}

size_t BestLogits::scratch(int cols) {
  const size_t stride = (static_cast<size_t>(cols) + 63) / 64 * 64;
  return (2 * stride + 64) / sizeof(float);
}

}  // namespace tern::cpu
#endif
