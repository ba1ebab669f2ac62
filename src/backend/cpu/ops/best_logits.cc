// An activation becomes X = round(x / t), 14 bits including the sign, split into X = 128·hi + lo with |hi| ≤ 64 and −64
// ≤ lo ≤ 63. Codes are c + 128 ∈ 1 … 255, so a pair of products is at most 2·255·64 = 32640. It fits 16 bits on
// instruction sets whose byte dot products saturate there. The sums are exact.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/ops/best_logits.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "backend/cpu/ops/best_logits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/ops/fetch_ahead.h"
#include "backend/cpu/ops/load_floats-inl.h"
#include "backend/cpu/ops/ops.h"
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

inline constexpr int kMostX = 8191;  // largest |X|: hi is at most 64

// The numbers of rows and tokens whose products are summed at a time, limited by the registers.
inline constexpr int kRowsAtOnce = kHasDot4 ? 2 : 1, kTokensAtOnce = kHasDot4 ? 4 : 2;

// A token's activations as integers, in the worker's scratch memory.
struct Activations {
  const int8_t* hi;  // [stride], 0 beyond the columns
  const int8_t* lo;
  int32_t sum_hi, sum_lo;
  float step;  // t in X = round(x / t)
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

// Returns false if the activations are not finite, or their length is so small or large that products could leave the
// range of floats.
bool Prepare(const float* x, const HeadCopy& copy, int8_t* hi, Activations& out, LogitBound& bound) {
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

  int8_t* const lo = hi + copy.stride;
  const float step = most / static_cast<float>(kMostX);
  const Rounded rounded = PutIntegers(x, cols, copy.stride, step, hi, lo);
  out = {.hi = hi, .lo = lo, .sum_hi = rounded.sum_hi, .sum_lo = rounded.sum_lo, .step = step};

  // The names are those in the proof.
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

// Σ c·hi and Σ c·lo of R consecutive rows and T tokens. Rows are read in memory order.
template <int R, int T>
HWY_INLINE void DotRows(const uint8_t* codes, size_t stride, const Activations* x, int32_t (*hi)[kHeadGroup],
                        int32_t (*lo)[kHeadGroup]) {
  const DU8 d;
  const DI8 di8;
  const FetchAhead ahead = weights_ahead();
  VI32 sum_hi[R][T], sum_lo[R][T];
  for (int r = 0; r < R; ++r) {
    for (int t = 0; t < T; ++t) sum_hi[r][t] = sum_lo[r][t] = hn::Zero(DI32());
  }
  for (size_t line = 0; line < stride; line += kCacheLine) {
    for (int r = 0; r < R; ++r) fetch_ahead(codes + static_cast<size_t>(r) * stride + line, ahead);
    for (size_t i = line; i < line + kCacheLine; i += hn::Lanes(d)) {
      hn::Vec<DU8> some[R];
      for (int r = 0; r < R; ++r) some[r] = hn::Load(d, codes + static_cast<size_t>(r) * stride + i);
      for (int t = 0; t < T; ++t) {
        const auto high = hn::Load(di8, x[t].hi + i), low = hn::Load(di8, x[t].lo + i);
        for (int r = 0; r < R; ++r) {
          sum_hi[r][t] = Dot4(some[r], high, sum_hi[r][t]);
          sum_lo[r][t] = Dot4(some[r], low, sum_lo[r][t]);
        }
      }
    }
  }
  for (int t = 0; t < T; ++t) {
    for (int r = 0; r < R; ++r) {
      hi[t][r] = hn::ReduceSum(DI32(), sum_hi[r][t]) - 128 * x[t].sum_hi;  // codes are c + 128
      lo[t][r] = hn::ReduceSum(DI32(), sum_lo[r][t]) - 128 * x[t].sum_lo;
    }
  }
}

// The same for a group's n rows and T tokens.
template <int T>
HWY_INLINE void DotGroup(const uint8_t* codes, size_t stride, int n, const Activations* x, int32_t (*hi)[kHeadGroup],
                         int32_t (*lo)[kHeadGroup]) {
  int row = 0;
  const auto at = [](int32_t (*sums)[kHeadGroup], int i) {
    return reinterpret_cast<int32_t (*)[kHeadGroup]>(*sums + i);
  };
  if constexpr (T > 1) {  // a single token is limited by memory: it reads one stream
    for (; row + kRowsAtOnce <= n; row += kRowsAtOnce) {
      DotRows<kRowsAtOnce, T>(codes + static_cast<size_t>(row) * stride, stride, x, at(hi, row), at(lo, row));
    }
  }
  for (; row < n; ++row) DotRows<1, T>(codes + static_cast<size_t>(row) * stride, stride, x, at(hi, row), at(lo, row));
}

// The error bounds of the rows from `row` on, in one group.
HWY_INLINE VF BoundOf(const HeadCopy& copy, const LogitBound& bound, size_t row) {
  const DF d;
  return hn::MulAdd(hn::LoadU(d, copy.error + row), hn::Set(d, bound.per_error),
                    hn::MulAdd(hn::LoadU(d, copy.norm + row), hn::Set(d, bound.per_norm), hn::Set(d, bound.at_least)));
}

using Group = float[kHeadGroup];

HWY_INLINE float* LogitsOf(const ops::FloatLinear& op, int token) {
  return op.out + static_cast<size_t>(token) * static_cast<size_t>(op.w->rows);
}

// One token's estimates and lower bounds, from the sums of a group's rows.
HWY_INLINE void EstimateGroup(const HeadCopy& copy, const Activations& x, const LogitBound& bound, int row,
                              const int32_t* hi, const int32_t* lo, Group& estimates, Group& lower) {
  const DF d;
  const hn::RebindToSigned<DF> di;
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

// Keeps the k largest of all offered values.
void Offer(float value, size_t k, std::vector<float>& heap) {
  if (heap.size() == k) {
    if (!(value > heap.front())) return;
    std::ranges::pop_heap(heap, std::greater<>());
    heap.pop_back();
  }
  heap.push_back(value);
  std::ranges::push_heap(heap, std::greater<>());
}

// Estimates T tokens, from `first` on, for the rows [begin, end).
template <int T>
void EstimateTokens(const BestLogitsJob& job, const Activations* x, int first, int begin, int end) {
  for (int row = begin; row < end; row += kHeadGroup) {
    const int n = std::min(kHeadGroup, end - row);
    HWY_ALIGN int32_t hi[T][kHeadGroup] = {};
    HWY_ALIGN int32_t lo[T][kHeadGroup] = {};
    DotGroup<T>(job.copy.codes + static_cast<size_t>(row) * job.copy.stride, job.copy.stride, n, x + first, hi, lo);
    for (int t = 0; t < T; ++t) {
      BestOfToken& token = job.tokens[static_cast<size_t>(first + t)];
      Group estimates, lower;
      EstimateGroup(job.copy, x[first + t], token.bound, row, hi[t], lo[t], estimates, lower);
      std::copy_n(estimates, n, LogitsOf(job.op, first + t) + row);
      for (int i = 0; i < n; ++i) Offer(lower[i], token.n_best, token.best);
    }
  }
}

bool Estimate(const BestLogitsJob& job) {
  Activations x[kMostBestTokens];
  const float* from = job.op.in.x;
  const auto start = reinterpret_cast<uintptr_t>(job.queue.scratch().data());
  auto* hi = reinterpret_cast<int8_t*>(job.queue.scratch().data()) + (64 - start % 64) % 64;
  for (int t = 0; t < job.op.n; ++t, from += job.op.w->cols, hi += 2 * job.copy.stride) {
    if (!Prepare(from, job.copy, hi, x[t], job.tokens[static_cast<size_t>(t)].bound)) return false;
  }
  // So many rows stay in the second-level cache while all tokens use them.
  const int rows_at_once =
      std::max<int>(1, static_cast<int>((size_t{128} << 10) / job.copy.stride / kHeadGroup)) * kHeadGroup;
  job.queue.for_ranges(job.op.w->rows, kHeadGroup, [&](int range_begin, int range_end) HWY_ATTR {
    for (int begin = range_begin; begin < range_end; begin += rows_at_once) {
      const int end = std::min(begin + rows_at_once, range_end);
      int t = 0;
      for (; t + kTokensAtOnce <= job.op.n; t += kTokensAtOnce) EstimateTokens<kTokensAtOnce>(job, x, t, begin, end);
      for (; t < job.op.n; ++t) EstimateTokens<1>(job, x, t, begin, end);
    }
  });
  return true;
}

// Replaces the estimates by results or −infinity. Returns the number of results.
int Rescore(const BestLogitsJob& job) {
  const DF d;
  int n_rescored = 0;
  const auto rescore = [&](int t, int row, int n) HWY_ATTR {
    const BestOfToken& token = job.tokens[static_cast<size_t>(t)];
    float* const out = LogitsOf(job.op, t) + row;
    const float* const x = job.op.in.x + static_cast<size_t>(t) * static_cast<size_t>(job.op.w->cols);
    Group upper = {};
    std::copy_n(out, n, upper);
    for (size_t i = 0; i < kHeadGroup; i += hn::Lanes(d)) {
      const VF above = BoundOf(job.copy, token.bound, static_cast<size_t>(row) + i);
      hn::StoreU(hn::Add(hn::LoadU(d, upper + i), above), d, upper + i);
    }
    for (int i = 0; i < n; ++i) {
      const bool may_be_best = upper[i] >= token.least;
      out[i] = may_be_best ? float_row(*job.op.w, row + i, x) : -std::numeric_limits<float>::infinity();
      n_rescored += may_be_best ? 1 : 0;
    }
  };
  job.queue.for_ranges(job.op.w->rows, kHeadGroup, [&](int begin, int end) HWY_ATTR {
    for (int row = begin; row < end; row += kHeadGroup) {
      for (int t = 0; t < job.op.n; ++t) rescore(t, row, std::min(kHeadGroup, end - row));
    }
  });
  return n_rescored;
}

}  // namespace best_logits

bool Estimate(const BestLogitsJob& job) { return best_logits::Estimate(job); }
int Rescore(const BestLogitsJob& job) { return best_logits::Rescore(job); }

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu {

HWY_EXPORT(Estimate);
HWY_EXPORT(Rescore);

namespace {

// If most rows must be computed in full, the copy only adds cost. Then so many calls of begin() skip it.
constexpr int kPause = 31;

}  // namespace

BestLogits::BestLogits(HeadCopy copy, int n_workers, int max_tokens)
    : copy_(std::move(copy)), max_tokens_(max_tokens), workers_(static_cast<size_t>(n_workers)) {
  for (Worker& worker : workers_) {
    worker.tokens.resize(static_cast<size_t>(max_tokens));
    for (BestOfToken& token : worker.tokens) token.best.reserve(kMostBestLogits);
  }
  all_best_.reserve(workers_.size() * kMostBestLogits);
}

bool BestLogits::begin(std::span<const int> n_best) {
  const auto few = [&](int n) { return n > 0 && n <= kMostBestLogits && n < copy_.w->rows; };
  if (n_best.empty() || std::ssize(n_best) > max_tokens_ || !std::ranges::all_of(n_best, few)) return false;
  if (n_tokens_ > 0 && n_rescored() / n_tokens_ > copy_.w->rows / 2) n_paused_ = kPause;
  n_rescored_.store(0, std::memory_order_relaxed);
  if (n_paused_ > 0) {
    --n_paused_;
    return false;
  }
  n_tokens_ = static_cast<int>(n_best.size());
  for (Worker& worker : workers_) {
    for (size_t t = 0; t < n_best.size(); ++t) {
      worker.tokens[t].best.clear();
      worker.tokens[t].n_best = static_cast<size_t>(n_best[t]);
    }
  }
  return true;
}

bool BestLogits::estimate(const ops::FloatLinear& op, int worker, WorkQueue& queue) {
  CHECK(op.n == n_tokens_ && op.in.x && op.w == copy_.w && op.store == ops::Store::kSet);
  return HWY_DYNAMIC_DISPATCH(Estimate)({op, copy_, workers_[static_cast<size_t>(worker)].tokens, queue});
}

void BestLogits::choose() {
  for (size_t t = 0; t < static_cast<size_t>(n_tokens_); ++t) {
    all_best_.clear();
    for (const Worker& worker : workers_) {
      const std::vector<float>& best = worker.tokens[t].best;
      all_best_.insert(all_best_.end(), best.begin(), best.end());
    }
    const auto n_best = static_cast<ptrdiff_t>(workers_[0].tokens[t].n_best);
    const auto last = all_best_.begin() + n_best - 1;  // there are more rows than n_best
    std::ranges::nth_element(all_best_, last, std::greater<>());
    for (Worker& worker : workers_) worker.tokens[t].least = *last;
  }
}

void BestLogits::rescore(const ops::FloatLinear& op, int worker, WorkQueue& queue) {
  const int n = HWY_DYNAMIC_DISPATCH(Rescore)({op, copy_, workers_[static_cast<size_t>(worker)].tokens, queue});
  n_rescored_.fetch_add(n, std::memory_order_relaxed);
}

size_t BestLogits::scratch(int cols, int n_tokens) {
  const size_t stride = (static_cast<size_t>(cols) + 63) / 64 * 64;
  return (2 * stride * static_cast<size_t>(n_tokens) + 64) / sizeof(float);
}

}  // namespace tern::cpu
#endif
