// The ops of recurrent layers, the gate of attention, and rotations: causal_conv, delta_rule, gated_norm, split_heads,
// sigmoid_mul, rotate.
//
// The delta rule runs token by token, so its results do not depend on how a text is divided into passes. That costs no
// more than the chunked form: a vector of columns of S depends on no other column, and stays in the cache while it
// takes in one token after another.
#ifndef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/ops/delta.cc"
#endif
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cmath>

#include "backend/cpu/ops/ops.h"
#include "backend/cpu/ops/results-inl.h"
#include "backend/cpu/ops/rms_norm_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace delta {

inline constexpr size_t kTokens = 16;   // whose queries and keys are normed at a time
inline constexpr size_t kColumns = 64;  // of S, of a unit of work
inline constexpr size_t kSums = 4;      // independent sums over the rows of S
using D = hn::CappedTag<float, 16>;     // head_dim is a multiple of 16
using V = hn::Vec<D>;

HWY_INLINE size_t Size(int n) { return static_cast<size_t>(n); }
HWY_INLINE float* FloatsOf(const ops::StateRows& rows) { return reinterpret_cast<float*>(rows.state); }
HWY_INLINE float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

// out = x · factor / √(Σx² + 1e-6), n values.
HWY_INLINE void NormHead(const float* x, size_t n, float factor, float* out) {
  const D d;
  V sum = hn::Zero(d);
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V v = hn::LoadU(d, x + i);
    sum = hn::MulAdd(v, v, sum);
  }
  const V scale = hn::Set(d, factor / std::sqrt(hn::ReduceSum(d, sum) + 1e-6f));
  for (size_t i = 0; i < n; i += hn::Lanes(d)) hn::StoreU(hn::Mul(hn::LoadU(d, x + i), scale), d, out + i);
}

// A vector of columns of S: head_dim rows, `stride` floats apart.
struct Columns {
  float* s;
  size_t n_rows, stride;

  // Σ over the rows of k · S.
  HWY_INLINE V dot(const float* k) const {
    const D d;
    V sums[kSums] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (size_t i = 0; i < n_rows; i += kSums) {
      for (size_t j = 0; j < kSums; ++j) {
        sums[j] = hn::MulAdd(hn::Set(d, k[i + j]), hn::LoadU(d, s + (i + j) * stride), sums[j]);
      }
    }
    return hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  }
  // S = decay · S + k δ. The same operations for tokens that were pending, so that the bits are the same.
  HWY_INLINE void add(const float* k, V delta, float decay) const {
    const D d;
    const V vdecay = hn::Set(d, decay);
    for (size_t i = 0; i < n_rows; ++i) {
      const V old = hn::Mul(vdecay, hn::LoadU(d, s + i * stride));
      hn::StoreU(hn::MulAdd(hn::Set(d, k[i]), delta, old), d, s + i * stride);
    }
  }
};

// A head of values over the rows of one sequence, for some columns of S.
class Head {
 public:
  Head(const ops::DeltaRule& op, const ops::StateRows& rows, int head, float* scratch)
      : op_(op),
        rows_(rows),
        head_(head),
        dim_(Size(op.shape.head_dim)),
        key_at_(dim_ *
                Size(op.shape.is_tiled ? head % op.shape.n_k_heads : head / (op.shape.n_v_heads / op.shape.n_k_heads))),
        value_at_(dim_ * Size(head)),
        kept_(FloatsOf(rows) + op.state.matrices + value_at_ * dim_),
        q_(scratch),
        k_(q_ + kTokens * dim_),
        decay_(k_ + kTokens * dim_),
        beta_(decay_ + kTokens),
        copy_(beta_ + kTokens) {}

  void run(size_t begin, size_t end) {
    const size_t lanes = hn::Lanes(D());
    for (size_t c = begin; c < end; c += lanes) confirm(c);
    // A check has at most kTokens rows, so a column is copied once.
    for (size_t first = 0; first < Size(rows_.n); first += kTokens) {
      const size_t n = std::min(kTokens, Size(rows_.n) - first);
      for (size_t t = 0; t < n; ++t) prepare(first + t, t);
      for (size_t c = begin; c < end; c += lanes) run_tokens(first, n, c);
      if (rows_.is_check && begin == 0) leave_pending(n);
    }
  }

 private:
  size_t row(size_t t) const { return Size(rows_.first) + t; }
  float* pending(size_t t) const {
    return FloatsOf(rows_) + op_.state.pending(1 - rows_.confirmed_set, static_cast<int>(t));
  }

  // Brings the columns from c on up to date with the confirmed tokens.
  HWY_INLINE void confirm(size_t c) const {
    const D d;
    const Columns columns{kept_ + c, dim_, dim_};
    if (rows_.is_new) {
      for (size_t i = 0; i < dim_; ++i) hn::StoreU(hn::Zero(d), d, columns.s + i * dim_);
    }
    for (int i = 0; i < rows_.n_confirmed; ++i) {
      const float* const token = FloatsOf(rows_) + op_.state.pending(rows_.confirmed_set, i);
      columns.add(token + op_.state.keys + key_at_, hn::LoadU(d, token + op_.state.deltas + value_at_ + c),
                  token[op_.state.decays + Size(head_)]);
    }
  }

  void prepare(size_t t, size_t at) const {
    const float* const in = op_.in + row(t) * Size(op_.shape.channels());
    NormHead(in + key_at_, dim_, 1 / std::sqrt(static_cast<float>(dim_)), q_ + at * dim_);
    NormHead(in + Size(op_.shape.key_width()) + key_at_, dim_, 1, k_ + at * dim_);
    const size_t of_head = row(t) * Size(op_.shape.n_v_heads) + Size(head_);
    const float dt = op_.alpha[of_head] + op_.dt_bias[head_];
    const float softplus = dt > 20 ? dt : std::log1p(std::exp(dt));
    decay_[at] = std::exp(op_.decay[head_] * softplus);
    beta_[at] = Sigmoid(op_.beta[of_head]);
  }

  HWY_INLINE void run_tokens(size_t first, size_t n, size_t c) const {
    const D d;
    Columns columns{kept_ + c, dim_, dim_};
    if (rows_.is_check) {
      const size_t lanes = hn::Lanes(d);
      for (size_t i = 0; i < dim_; ++i) hn::StoreU(hn::LoadU(d, kept_ + c + i * dim_), d, copy_ + i * lanes);
      columns = {copy_, dim_, lanes};
    }
    for (size_t t = 0; t < n; ++t) {
      const float* const q = q_ + t * dim_;
      const float* const k = k_ + t * dim_;
      const float* const v = op_.in + row(first + t) * Size(op_.shape.channels()) + 2 * Size(op_.shape.key_width());
      const V predicted = hn::Mul(hn::Set(d, decay_[t]), columns.dot(k));
      const V delta = hn::Mul(hn::Set(d, beta_[t]), hn::Sub(hn::LoadU(d, v + value_at_ + c), predicted));
      columns.add(k, delta, decay_[t]);
      hn::StoreU(columns.dot(q), d, op_.out + row(first + t) * Size(op_.shape.value_width()) + value_at_ + c);
      if (rows_.is_check) hn::StoreU(delta, d, pending(t) + op_.state.deltas + value_at_ + c);
    }
  }

  // All heads of values that share a key head leave the same keys, but only the first writes them.
  void leave_pending(size_t n) const {
    const bool is_first =
        op_.shape.is_tiled ? head_ < op_.shape.n_k_heads : head_ % (op_.shape.n_v_heads / op_.shape.n_k_heads) == 0;
    for (size_t t = 0; t < n; ++t) {
      if (is_first) std::copy_n(k_ + t * dim_, dim_, pending(t) + op_.state.keys + key_at_);
      pending(t)[op_.state.decays + Size(head_)] = decay_[t];
    }
  }

  const ops::DeltaRule& op_;
  const ops::StateRows& rows_;
  int head_;
  size_t dim_, key_at_, value_at_;
  float* kept_;
  float *q_, *k_, *decay_, *beta_, *copy_;
};

// Channels [begin, end) of one sequence. The columns before its rows are read first and the new ones are written last.
void ConvolveChannels(const ops::CausalConv& op, const ops::StateRows& rows, size_t begin, size_t end) {
  const size_t channels = Size(op.channels), taps = Size(op.n_taps), n_columns = taps - 1, n = end - begin;
  float* const columns = FloatsOf(rows) + op.state.columns + begin;
  const float* const in = op.in + Size(rows.first) * channels + begin;
  if (rows.is_new) {
    for (size_t j = 0; j < n_columns; ++j) std::fill_n(columns + j * channels, n, 0.0f);
  }
  for (int i = 0; i < rows.n_confirmed; ++i) {
    const float* const token = FloatsOf(rows) + op.state.pending(rows.confirmed_set, i) + op.state.inputs + begin;
    for (size_t j = 0; j + 1 < n_columns; ++j) std::copy_n(columns + (j + 1) * channels, n, columns + j * channels);
    std::copy_n(token, n, columns + (n_columns - 1) * channels);
  }
  // Input i of the sequence, counted from the first column.
  const auto input = [&](size_t i) { return i < n_columns ? columns + i * channels : in + (i - n_columns) * channels; };
  constexpr size_t kMost = 256;
  float ones[kMost];
  std::fill_n(ones, n, 1.0f);
  for (size_t row = 0; row < Size(rows.n); ++row) {
    float sums[kMost];
    for (size_t c = 0; c < n; ++c) sums[c] = op.taps[(begin + c) * taps] * input(row)[c];
    for (size_t j = 1; j < taps; ++j) {
      const float* const of_tap = input(row + j);
      for (size_t c = 0; c < n; ++c) sums[c] += op.taps[(begin + c) * taps + j] * of_tap[c];
    }
    Glu(GluAct::kSilu, sums, ones, n, op.out + (Size(rows.first) + row) * channels + begin);
  }
  if (rows.is_check) {
    for (int i = 0; i < rows.n; ++i) {
      float* const token = FloatsOf(rows) + op.state.pending(1 - rows.confirmed_set, i) + op.state.inputs + begin;
      std::copy_n(in + Size(i) * channels, n, token);
    }
    return;
  }
  for (size_t j = 0; j < n_columns; ++j) {
    const float* const last = input(Size(rows.n) + j);
    if (last != columns + j * channels) std::copy_n(last, n, columns + j * channels);
  }
}

}  // namespace delta

void DeltaColumns(const ops::DeltaRule& op, WorkQueue& queue) {
  const int dim = op.shape.head_dim, most = static_cast<int>(delta::kColumns);
  const int parts = (dim + most - 1) / most, units = op.shape.n_v_heads * parts;
  queue.for_ranges(static_cast<int>(op.rows.size()) * units, 1, [&](int begin, int end) HWY_ATTR {
    for (int unit = begin; unit < end; ++unit) {
      const int head = unit % units / parts, first = unit % parts * most;
      delta::Head(op, op.rows[static_cast<size_t>(unit / units)], head, queue.scratch().data())
          .run(static_cast<size_t>(first), static_cast<size_t>(std::min(first + most, dim)));
    }
  });
}

void ConvolveRows(const ops::CausalConv& op, WorkQueue& queue) {
  constexpr int kChannels = 256;
  const int parts = (op.channels + kChannels - 1) / kChannels;
  queue.for_ranges(static_cast<int>(op.rows.size()) * parts, 1, [&](int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const int first = unit % parts * kChannels;
      delta::ConvolveChannels(op, op.rows[static_cast<size_t>(unit / parts)], static_cast<size_t>(first),
                              static_cast<size_t>(std::min(first + kChannels, op.channels)));
    }
  });
}

void GatedNormHeads(const ops::GatedNorm& op, WorkQueue& queue) {
  const auto dim = static_cast<size_t>(op.head_dim);
  queue.for_ranges(op.n, 4, [&](int begin, int end) {
    for (auto head = static_cast<size_t>(begin); head < static_cast<size_t>(end); ++head) {
      float* const out = op.out + head * dim;
      RmsNormRow(op.in + head * dim, op.gain, op.eps, dim, out);
      Glu(GluAct::kSilu, op.gate + head * dim, out, dim, out);
    }
  });
}

// One block of a row, by log2(block) rounds of sums and differences.
void RotateBlock(const ops::Rotate& op, const float* in, float* out, int first) {
  const hn::ScalableTag<float> d;
  const size_t n = static_cast<size_t>(op.block), lanes = hn::Lanes(d);
  float* const x = out + first;
  for (size_t i = 0; i < n; ++i) {
    const int at = first + static_cast<int>(i);
    x[i] = in[op.source(at)] * (op.is_inverse ? 1 : op.signs[at]);
  }
  for (size_t half = 1; half < n; half *= 2) {
    for (size_t begin = 0; begin < n; begin += 2 * half) {
      float* const a = x + begin;
      float* const b = a + half;
      if (half < lanes) {
        for (size_t i = 0; i < half; ++i) {
          const float sum = a[i] + b[i], difference = a[i] - b[i];
          a[i] = sum;
          b[i] = difference;
        }
        continue;
      }
      for (size_t i = 0; i < half; i += lanes) {
        const auto va = hn::LoadU(d, a + i), vb = hn::LoadU(d, b + i);
        hn::StoreU(hn::Add(va, vb), d, a + i);
        hn::StoreU(hn::Sub(va, vb), d, b + i);
      }
    }
  }
  const float norm = 1 / std::sqrt(static_cast<float>(op.block));
  for (size_t i = 0; i < n; ++i) x[i] *= op.is_inverse ? norm * op.signs[static_cast<size_t>(first) + i] : norm;
}

void RotateBlocks(const ops::Rotate& op, WorkQueue& queue) {
  const int per_row = op.width / op.block;
  queue.for_ranges(op.n * per_row, 1, [&](int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const auto row = static_cast<size_t>(unit / per_row) * static_cast<size_t>(op.width);
      RotateBlock(op, op.in + row, op.out + row, unit % per_row * op.block);
    }
  });
}

void MulSigmoidRange(const ops::SigmoidMul& op, int begin, int end) {
  MulSigmoid(op.gate + begin, static_cast<size_t>(end - begin), op.x + begin);
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu {

HWY_EXPORT(ConvolveRows);
HWY_EXPORT(DeltaColumns);
HWY_EXPORT(GatedNormHeads);
HWY_EXPORT(MulSigmoidRange);
HWY_EXPORT(RotateBlocks);

void causal_conv(const ops::CausalConv& op, WorkQueue& queue) { HWY_DYNAMIC_DISPATCH(ConvolveRows)(op, queue); }
void delta_rule(const ops::DeltaRule& op, WorkQueue& queue) { HWY_DYNAMIC_DISPATCH(DeltaColumns)(op, queue); }
void gated_norm(const ops::GatedNorm& op, WorkQueue& queue) { HWY_DYNAMIC_DISPATCH(GatedNormHeads)(op, queue); }

void rotate(const ops::Rotate& op, WorkQueue& queue) { HWY_DYNAMIC_DISPATCH(RotateBlocks)(op, queue); }

void split_heads(const ops::SplitHeads& op, WorkQueue& queue) {
  const auto dim = static_cast<size_t>(op.head_dim);
  queue.for_ranges(op.n * op.n_heads, 4, [&](int begin, int end) {
    for (auto head = static_cast<size_t>(begin); head < static_cast<size_t>(end); ++head) {
      std::copy_n(op.in + 2 * head * dim, dim, op.q + head * dim);
      std::copy_n(op.in + (2 * head + 1) * dim, dim, op.gate + head * dim);
    }
  });
}

void sigmoid_mul(const ops::SigmoidMul& op, WorkQueue& queue) {
  queue.for_ranges(static_cast<int>(op.count), 1024,
                   [&](int begin, int end) { HWY_DYNAMIC_DISPATCH(MulSigmoidRange)(op, begin, end); });
}

size_t delta_scratch(int head_dim) {
  return 16 * (2 * static_cast<size_t>(head_dim) + 2) + 16 * static_cast<size_t>(head_dim);
}

}  // namespace tern::cpu
#endif
