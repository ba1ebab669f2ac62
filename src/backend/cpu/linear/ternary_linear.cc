// y = Σ code·q for ternary weights and int8 activations: I2_S directly from the file's bytes, and rows in base 3.
//
// Codes are c = w + 1 ∈ {0, 1, 2}, unsigned, so the unsigned × signed byte dot products apply. Σ w·q = Σ c·q − Σ q is
// corrected once per output. Everything is exact in int32.
//
// With few tokens there is little reuse, so the order of reading matters: rows are streamed in memory order and
// unpacked in registers (i2_s_rows-inl.h, base3_rows-inl.h). With more tokens, a panel of rows is unpacked to bytes
// once and multiplied with all of them (code_tiles-inl.h, amx_tiles.h, i8mm_tiles.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/linear/ternary_linear.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <cstring>

#include "backend/cpu/linear/amx_tiles.h"
#include "backend/cpu/linear/base3_rows-inl.h"
#include "backend/cpu/linear/code_panel.h"
#include "backend/cpu/linear/code_tiles-inl.h"
#include "backend/cpu/linear/i2_s_rows-inl.h"
#include "backend/cpu/linear/i8mm_tiles.h"
#include "backend/cpu/ops/ops.h"
#include "backend/cpu/ops/results-inl.h"
#include "base/check.h"

#ifndef TERN_BACKEND_CPU_TERNARY_LINEAR_CC_
#define TERN_BACKEND_CPU_TERNARY_LINEAR_CC_
namespace tern::cpu {

// Rows that are multiplied with one token after another; their codes stay in the first-level cache.
inline constexpr int kPassRows = 16;
// Tokens whose sums are kept while the columns of a panel pass.
inline constexpr int kPanelTokens = 64;
// Columns of a panel. The last block of a row may have more than the row.
inline constexpr size_t whole_blocks(size_t cols) { return 4 * i2_s_bytes(cols); }
// The number of tokens from which unpacking pays: if rows are unpacked for several tokens at once, the same with AMX,
// and if rows are unpacked for each token.
inline constexpr int kMinPanelTokens = 28, kMinPanelTokensAmx = 12, kMinPanelTokensOneByOne = 4;

}  // namespace tern::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Rows>
int MinPanelTokens() {
  if (Rows::kMostTokens == 1) return kMinPanelTokensOneByOne;
  return cpu_target().amx ? kMinPanelTokensAmx : kMinPanelTokens;
}

// One op: the activations of its tokens, and the worker's memory.
struct Job {
  ops::QuantizedRows in;
  int n;
  size_t cols;
  std::span<float> scratch;
  FetchAhead ahead;
};

HWY_INLINE const uint8_t* RowAt(const Tensor& w, size_t stride, int row) {
  return reinterpret_cast<const uint8_t*>(w.data.data()) + static_cast<size_t>(row) * stride;
}

// Multiplies at most kPassRows rows with T tokens, from `first` on.
template <class Rows, class Dot, int T>
void StreamTokensAtOnce(const Job& job, const Tensor& w, int begin, int end, int first, const Results& results) {
  const size_t stride = Rows::row_bytes(job.cols), one = Rows::arranged_bytes(job.cols);
  const auto* arranged = reinterpret_cast<const int8_t*>(job.scratch.data()) + static_cast<size_t>(first) * one;
  float y[T][1][kPassRows] = {};
  for (int i = 0; i < end - begin; ++i) {
    int32_t dots[T];
    Rows::template dot_tokens<Dot, T>(RowAt(w, stride, begin + i), arranged, one, job.cols, job.ahead, dots);
    for (int t = 0; t < T; ++t) {
      const float sum = static_cast<float>(dots[t] - job.in.sum[first + t]);
      y[t][0][i] = sum / job.in.scale[first + t] * w.scale;
    }
  }
  for (int t = 0; t < T; ++t) PutTile(results, y[t], first + t, begin, end - begin);
}

// The same with as many of the remaining tokens as possible at once. Returns their number.
template <class Rows, class Dot>
int StreamTokens(const Job& job, const Tensor& w, int begin, int end, int first, const Results& results) {
  const int n = job.n - first;
  if constexpr (Rows::kMostTokens >= 8) {
    const bool fits = 8 * Rows::arranged_bytes(job.cols) <= (size_t{40} << 10);  // the first-level cache
    if (n >= 8 && fits) return StreamTokensAtOnce<Rows, Dot, 8>(job, w, begin, end, first, results), 8;
  }
  if (n >= 4) return StreamTokensAtOnce<Rows, Dot, 4>(job, w, begin, end, first, results), 4;
  if (n == 3) return StreamTokensAtOnce<Rows, Dot, 3>(job, w, begin, end, first, results), 3;
  return StreamTokensAtOnce<Rows, Dot, 2>(job, w, begin, end, first, results), 2;
}

// Multiplies at most kPassRows rows with a few tokens, whose activations ForRanges() has arranged.
template <class Rows, class Dot>
void StreamRows(const Job& job, const Tensor& w, int begin, int end, const Results& results) {
  const auto* arranged = reinterpret_cast<const int8_t*>(job.scratch.data());
  const size_t stride = Rows::row_bytes(job.cols), one = Rows::arranged_bytes(job.cols);
  int t = 0;
  if constexpr (Rows::kMostTokens > 1) {
    for (; t + 2 <= job.n;) t += StreamTokens<Rows, Dot>(job, w, begin, end, t, results);
  }
  for (arranged += static_cast<size_t>(t) * one; t < job.n; ++t, arranged += one) {
    float y[1][kPassRows] = {};
    const auto put = [&](int i, int32_t dot) {
      y[0][i] = static_cast<float>(dot - job.in.sum[t]) / job.in.scale[t] * w.scale;
    };
    int i = 0;
    if constexpr (constexpr int kRows = Rows::template kRows<Dot>; kRows > 1) {
      for (; i + kRows <= end - begin; i += kRows) {
        int32_t sums[kRows];
        Rows::template dots<Dot>(RowAt(w, stride, begin + i), stride, arranged, job.cols, job.ahead, sums);
        for (int r = 0; r < kRows; ++r) put(i + r, sums[r]);
      }
    }
    for (; i < end - begin; ++i) {
      put(i, Rows::template dot<Dot>(RowAt(w, stride, begin + i), arranged, job.cols, job.ahead));
    }
    PutTile(results, y, t, begin, end - begin);
  }
}

// The worker's memory while it multiplies a panel.
struct Panel {
  int32_t* sums;   // [kPanelTokens, kPanelRows]
  uint8_t* codes;  // [cols / 4][kPanelRows][4], in whole blocks
  uint8_t* rows;   // kPanelRows rows as in the matrix, used if the matrix has fewer left
  uint8_t* spare;  // for Rows::make_panel
};

// Takes as many bytes as TernaryScratch() counts.
template <class Rows>
HWY_INLINE Panel PanelOf(const Job& job) {
  Panel panel;
  panel.sums = reinterpret_cast<int32_t*>(job.scratch.data());
  panel.codes = reinterpret_cast<uint8_t*>(panel.sums + kPanelTokens * kPanelRows);
  panel.rows = panel.codes + kPanelRows * whole_blocks(job.cols);
  panel.spare = panel.rows + kPanelRows * Rows::row_bytes(job.cols);
  return panel;
}

HWY_INLINE void PutSums(const Job& job, const Tensor& w, const int32_t* sums, int token, int row, int n_rows,
                        const Results& results) {
  const auto sum = static_cast<int32_t>(job.in.sum[token]);
  const float scale = job.in.scale[token];
  float y[1][kPanelRows];
  for (size_t i = 0; i < kPanelRows; ++i) y[0][i] = static_cast<float>(sums[i] - sum) / scale * w.scale;
  PutTile(results, y, token, row, n_rows);
}

// The product of a panel with `tokens` of a batch of `all`, by the best instructions for so many.
template <class Dot>
HWY_INLINE void MultiplyTokens(const Panel& panel, const int8_t* q, size_t tokens, int all, size_t cols) {
  const CpuTarget& target = cpu_target();
  if (target.amx && all >= kAmxMinTokens && cols % kAmxColumns == 0) {
    amx_panel(panel.codes, q, tokens, cols, panel.sums);
  } else if (target.i8mm && cols % kI8mmColumns == 0) {
    i8mm_panel(panel.codes, q, tokens, cols, panel.sums);
  } else {
    DotPanel<Dot>(panel.codes, q, tokens, cols, panel.sums);
  }
}

// Multiplies at most kPanelRows rows with all tokens.
template <class Rows, class Dot>
void MultiplyPanel(const Job& job, const Tensor& w, int begin, int end, const Results& results) {
  const Panel panel = PanelOf<Rows>(job);
  const size_t stride = Rows::row_bytes(job.cols);
  const auto n_rows = static_cast<size_t>(end - begin);
  const uint8_t* rows = RowAt(w, stride, begin);
  if (n_rows < kPanelRows) {
    std::memcpy(panel.rows, rows, n_rows * stride);
    rows = panel.rows;
  }
  Rows::make_panel(rows, job.cols, panel.codes, panel.spare);
  for (int token = 0; token < job.n; token += kPanelTokens) {
    const auto n = static_cast<size_t>(std::min(kPanelTokens, job.n - token));
    const int8_t* q = job.in.q + static_cast<size_t>(token) * job.cols;
    MultiplyTokens<Dot>(panel, q, n, job.n, job.cols);
    for (size_t t = 0; t < n; ++t) {
      PutSums(job, w, panel.sums + t * kPanelRows, token + static_cast<int>(t), begin, end - begin, results);
    }
  }
}

template <class Rows, class Dot>
void AnyRows(const Job& job, const Tensor& w, int begin, int end, const Results& results) {
  if (job.n < MinPanelTokens<Rows>()) {
    StreamRows<Rows, Dot>(job, w, begin, end, results);
  } else {
    MultiplyPanel<Rows, Dot>(job, w, begin, end, results);
  }
}

// Arranges the activations of a few tokens in the worker's memory.
template <class Rows>
HWY_INLINE void ArrangeAll(const Job& job) {
  auto* const arranged = reinterpret_cast<int8_t*>(job.scratch.data());
  for (int t = 0; t < job.n; ++t) {
    Rows::arrange(job.in.q + static_cast<size_t>(t) * job.cols, job.cols,
                  arranged + static_cast<size_t>(t) * Rows::arranged_bytes(job.cols));
  }
}

// Calls body(begin, end) for a few rows at a time, for all rows that this worker claims.
template <class Rows, class Body>
HWY_INLINE void ForRanges(const Job& job, int n_rows, WorkQueue& queue, const Body& body) {
  const bool streams = job.n < MinPanelTokens<Rows>();
  const int step = streams ? kPassRows : static_cast<int>(kPanelRows);
  bool is_arranged = false;
  queue.for_ranges(n_rows, step, [&](int begin, int end) HWY_ATTR {
    if (streams && !is_arranged) ArrangeAll<Rows>(job);
    is_arranged = true;
    for (int row = begin; row < end; row += step) body(row, std::min(row + step, end));
  });
}

template <class Body>
HWY_INLINE void WithRows(const Tensor& w, const Body& body) {
  if (w.is_rearranged) return with_dot([&](auto dot) HWY_ATTR { body(Base3Rows(), dot); });
  with_dot([&](auto dot) HWY_ATTR { body(I2sRows(), dot); });
}

Job JobOf(const ops::QuantizedRows& in, int n, const Tensor& w, WorkQueue& queue) {
  return {in, n, static_cast<size_t>(w.cols), queue.scratch(), weights_ahead()};
}

void TernaryLinear(const ops::TernaryLinear& op, WorkQueue& queue) {
  const Job job = JobOf(op.in, op.n, *op.w, queue);
  const Results results(op.store, op.out, op.w->rows);
  WithRows(*op.w, [&]<class Rows, class Dot>(Rows, Dot) HWY_ATTR {
    ForRanges<Rows>(job, op.w->rows, queue,
                    [&](int begin, int end) HWY_ATTR { AnyRows<Rows, Dot>(job, *op.w, begin, end, results); });
  });
}

// The gate's results go to the output; the up pass over the same rows then multiplies them.
void TernaryGlu(const ops::TernaryGlu& op, WorkQueue& queue) {
  const Job job = JobOf(op.in, op.n, *op.w_gate, queue);
  const Results store(ops::Store::kSet, op.out, op.w_gate->rows);
  const Results finish(op.act, op.out, op.w_gate->rows);
  WithRows(*op.w_gate, [&]<class Rows, class Dot>(Rows, Dot) HWY_ATTR {
    ForRanges<Rows>(job, op.w_gate->rows, queue, [&](int begin, int end) HWY_ATTR {
      AnyRows<Rows, Dot>(job, *op.w_gate, begin, end, store);
      AnyRows<Rows, Dot>(job, *op.w_up, begin, end, finish);
    });
  });
}

size_t TernaryScratch(size_t cols) {
  const size_t arranged = std::max(I2sRows::arranged_bytes(cols), Base3Rows::arranged_bytes(cols));
  const size_t panel = kPanelTokens * kPanelRows * sizeof(int32_t) + kPanelRows * whole_blocks(cols) +
                       std::max(kPanelRows * I2sRows::row_bytes(cols) + I2sRows::spare_bytes(cols),
                                kPanelRows * Base3Rows::row_bytes(cols) + Base3Rows::spare_bytes(cols));
  return std::max(panel, (kMinPanelTokens - 1) * arranged) / sizeof(float) + 1;
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu {

HWY_EXPORT(TernaryLinear);
HWY_EXPORT(TernaryGlu);
HWY_EXPORT(TernaryScratch);

namespace {

void check_matrix(const Tensor& w) {
  CHECK(w.is_rearranged ? w.format == Format::kTQ1_0 : w.format == Format::kI2_S);
  CHECK(w.cols % 4 == 0);  // words of a panel
}

}  // namespace

void ternary_linear(const ops::TernaryLinear& op, WorkQueue& queue) {
  check_matrix(*op.w);
  HWY_DYNAMIC_DISPATCH(TernaryLinear)(op, queue);
}

void ternary_glu(const ops::TernaryGlu& op, WorkQueue& queue) {
  check_matrix(*op.w_gate);
  check_matrix(*op.w_up);
  CHECK(op.w_gate->is_rearranged == op.w_up->is_rearranged);
  HWY_DYNAMIC_DISPATCH(TernaryGlu)(op, queue);
}

size_t ternary_scratch(int cols) { return HWY_DYNAMIC_DISPATCH(TernaryScratch)(static_cast<size_t>(cols)); }

}  // namespace tern::cpu
#endif
