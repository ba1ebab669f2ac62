// y = W·x for float activations: the LM head. F16, BF16 and F32 rows are read in place; rows of other formats are
// decoded one by one first.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/linear/float_linear.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/cache_control.h>
// clang-format on

#include "backend/cpu/linear/block_linear.h"
#include "backend/cpu/linear/expert_groups.h"
#include "backend/cpu/ops/load_floats-inl.h"
#include "backend/cpu/ops/ops.h"
#include "backend/cpu/ops/results-inl.h"
#include "backend/cpu/ops/take_scratch.h"
#include "base/check.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

inline constexpr int kTileRows = 4;
inline constexpr int kTileTokens = 4;

// Multiplies R rows with N tokens. Every output has its own chain of fused multiply-adds over ascending columns, so a
// token's logits do not depend on how many tokens are computed at once.
template <int R, int N, class T>
HWY_INLINE void Tile(const T* w, size_t cols, const float* x, float scale, float (&y)[N][R]) {
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
    for (int t = 0; t < N; ++t) y[t][r] = hn::ReduceSum(d, acc[r][t]) * scale;
  }
}

// The operands of a matrix's rows, and the destination of the results.
struct Job {
  const float* in;  // [n, cols]
  int n;
  const Tensor* w;
  Results results;
  int first_row = 0;  // of `w`, which is row 0 of the results
};

template <int R, int N, class T>
HWY_INLINE void PutRows(const T* w, const Job& job, int row, int token) {
  const auto cols = static_cast<size_t>(job.w->cols);
  float y[N][R];
  Tile<R, N>(w, cols, job.in + static_cast<size_t>(token) * cols, job.w->scale, y);
  PutTile(job.results, y, token, row, R);
}

template <int R, class T>
HWY_INLINE void RowsForAllTokens(const T* w, const Job& job, int row) {
  int t = 0;
  for (; t + kTileTokens <= job.n; t += kTileTokens) PutRows<R, kTileTokens>(w, job, row, t);
  for (; t < job.n; ++t) PutRows<R, 1>(w, job, row, t);
}

template <class T>
void RowsInPlace(const Job& job, int begin, int end) {
  const auto cols = static_cast<size_t>(job.w->cols);
  const T* w = reinterpret_cast<const T*>(job.w->data.data()) + static_cast<size_t>(job.first_row) * cols;
  int row = begin;
  for (; row + kTileRows <= end; row += kTileRows) {
    RowsForAllTokens<kTileRows>(w + static_cast<size_t>(row) * cols, job, row);
  }
  for (; row < end; ++row) RowsForAllTokens<1>(w + static_cast<size_t>(row) * cols, job, row);
}

void RowsDecoded(const Job& job, int begin, int end, std::span<float> scratch) {
  const FormatInfo& format = format_info(job.w->format);
  const uint64_t bytes = row_bytes(job.w->format, job.w->cols);
  const std::span<float> weights = scratch.first(static_cast<size_t>(job.w->cols));
  for (int row = begin; row < end; ++row) {
    format.decode(job.w->data.subspan(static_cast<uint64_t>(job.first_row + row) * bytes, bytes), weights);
    RowsForAllTokens<1>(weights.data(), job, row);
  }
}

void Rows(const Job& job, int begin, int end, std::span<float> scratch) {
  switch (job.w->format) {
    case Format::kF32:
      return RowsInPlace<float>(job, begin, end);
    case Format::kF16:
      return RowsInPlace<hwy::float16_t>(job, begin, end);
    case Format::kBF16:
      return RowsInPlace<hwy::bfloat16_t>(job, begin, end);
    default:
      return RowsDecoded(job, begin, end, scratch);
  }
}

void FloatLinear(const ops::FloatLinear& op, WorkQueue& queue) {
  if (op.n == 0) return;
  const Job job{op.in.x, op.n, op.w, Results(op.store, op.out, op.w->rows)};
  queue.for_ranges(op.w->rows, kTileRows, [&](int begin, int end) { Rows(job, begin, end, queue.scratch()); });
}

template <class T>
float RowInPlace(const Tensor& w, int row, const float* x) {
  const auto cols = static_cast<size_t>(w.cols);
  float y[1][1];
  Tile<1, 1>(reinterpret_cast<const T*>(w.data.data()) + static_cast<size_t>(row) * cols, cols, x, w.scale, y);
  return y[0][0];
}

float FloatRow(const Tensor& w, int row, const float* x) {
  switch (w.format) {
    case Format::kF32:
      return RowInPlace<float>(w, row, x);
    case Format::kF16:
      return RowInPlace<hwy::float16_t>(w, row, x);
    case Format::kBF16:
      return RowInPlace<hwy::bfloat16_t>(w, row, x);
    default:
      CHECK(false);
  }
}

// The gate's results go to the output; the up pass over the same rows then multiplies them.
void FloatGlu(const ops::FloatGlu& op, WorkQueue& queue) {
  if (op.n == 0) return;
  const int n_rows = op.w_gate->rows;
  const Job gate{op.in.x, op.n, op.w_gate, Results(ops::Store::kSet, op.out, n_rows)};
  const Job up{op.in.x, op.n, op.w_up, Results(op.act, op.out, n_rows)};
  queue.for_ranges(n_rows, kTileRows, [&](int begin, int end) {
    Rows(gate, begin, end, queue.scratch());
    Rows(up, begin, end, queue.scratch());
  });
}

// Copies n rows of `in`, so that they follow one another.
const float* Gather(const float* in, const int* rows, int n, int width, std::span<float>& free) {
  const auto cols = static_cast<size_t>(width);
  float* const out = take_scratch<float>(free, static_cast<size_t>(n) * cols * sizeof(float));
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
    std::copy_n(in + static_cast<size_t>(rows[i]) * cols, cols, out + i * cols);
  }
  return out;
}

void FloatExpertLinear(const ops::ExpertLinear& op, WorkQueue& queue) {
  if (op.chosen.n == 0) return;
  std::optional<Job> job;
  std::span<float> scratch;
  for_experts(
      op.chosen, *op.w, queue,
      [&](const ExpertGroups::Group& group, std::span<float> free) {
        const int rows = op.w->expert_rows(), first = group.expert * rows;
        const float* const in = Gather(op.in.x, group.choices, group.n, op.w->cols, free);
        const float* const bias = op.bias ? op.bias + first : nullptr;
        job.emplace(in, group.n, op.w, Results(ops::Store::kSet, op.out, rows).of(group.choices, bias), first);
        scratch = free;
      },
      [&](int begin, int end) { Rows(*job, begin, end, scratch); });
}

void FloatExpertGlu(const ops::ExpertGlu& op, WorkQueue& queue) {
  if (op.chosen.n == 0) return;
  std::optional<Job> gate, up;
  std::span<float> scratch;
  for_experts(
      op.chosen, *op.w_gate, queue,
      [&](const ExpertGroups::Group& group, std::span<float> free) {
        const int rows = op.w_gate->expert_rows(), first = group.expert * rows;
        const auto bias = [&](const float* all) { return all ? all + first : nullptr; };
        const float* const in = Gather(op.in.x, group.tokens, group.n, op.w_gate->cols, free);
        const Results store = Results(ops::Store::kSet, op.out, rows).of(group.choices, bias(op.gate_bias));
        const Results finish = Results(op.act, op.out, rows).of(group.choices, bias(op.up_bias), op.limit);
        gate.emplace(in, group.n, op.w_gate, store, first);
        up.emplace(in, group.n, op.w_up, finish, first);
        scratch = free;
      },
      [&](int begin, int end) {
        Rows(*gate, begin, end, scratch);
        Rows(*up, begin, end, scratch);
      });
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu {

HWY_EXPORT(FloatLinear);
HWY_EXPORT(FloatGlu);
HWY_EXPORT(FloatRow);
HWY_EXPORT(FloatExpertLinear);
HWY_EXPORT(FloatExpertGlu);

void float_linear(const ops::FloatLinear& op, WorkQueue& queue) {
  if (op.in.blocks.q) return block_linear(op, queue);
  HWY_DYNAMIC_DISPATCH(FloatLinear)(op, queue);
}

float float_row(const Tensor& w, int row, const float* x) { return HWY_DYNAMIC_DISPATCH(FloatRow)(w, row, x); }

void float_glu(const ops::FloatGlu& op, WorkQueue& queue) {
  if (op.in.blocks.q) return block_glu(op, queue);
  HWY_DYNAMIC_DISPATCH(FloatGlu)(op, queue);
}

void expert_linear(const ops::ExpertLinear& op, WorkQueue& queue) {
  if (op.in.blocks.q) return block_expert_linear(op, queue);
  HWY_DYNAMIC_DISPATCH(FloatExpertLinear)(op, queue);
}

void expert_glu(const ops::ExpertGlu& op, WorkQueue& queue) {
  if (op.in.blocks.q) return block_expert_glu(op, queue);
  HWY_DYNAMIC_DISPATCH(FloatExpertGlu)(op, queue);
}

size_t expert_scratch(int cols, int n, const ExpertConfig& experts, bool is_blocks) {
  const size_t groups = ExpertGroups::scratch(n, experts.n_used, experts.n);
  if (is_blocks) return groups + 2 * block_scratch(cols, n);
  constexpr size_t kAlignment = 64 / sizeof(float);
  return groups + static_cast<size_t>(n + 1) * static_cast<size_t>(cols) + kAlignment;
}

}  // namespace tern::cpu
#endif
