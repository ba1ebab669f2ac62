// Causal attention over the KV cache, one unit per token and query head; and the append that fills the cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/attention.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

#include <cmath>

#include "backend/cpu/load_floats-inl.h"
#include "backend/cpu/ops.h"
#include "backend/kv_layout.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

template <class T>
HWY_INLINE void StoreCached(VF values, T* at, size_t n) {
  const DF d;
  if constexpr (std::is_same_v<T, float>) {
    hn::StoreN(values, d, at, n);
  } else {
    const hn::Rebind<T, DF> dt;
    hn::StoreN(hn::DemoteTo(dt, values), dt, at, n);
  }
}

// scores[pos] = q·K[pos] · factor.
template <class T>
void Scores(const float* q, const T* k, size_t dim, size_t n_pos, float factor, float* scores) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  for (size_t pos = 0; pos < n_pos; ++pos, k += dim) {
    VF acc = hn::Zero(d);
    for (size_t i = 0; i < dim; i += lanes) {
      const size_t n = std::min(lanes, dim - i);
      acc = hn::MulAdd(LoadFloats(q + i, n), LoadFloats(k + i, n), acc);
    }
    scores[pos] = hn::ReduceSum(d, acc) * factor;
  }
}

// scores → exp(scores − max), not yet divided by their sum, which is returned.
float Exponentials(float* scores, size_t n_pos) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  float largest = scores[0];
  for (size_t i = 1; i < n_pos; ++i) largest = std::max(largest, scores[i]);
  const VF vlargest = hn::Set(d, largest);
  VF sums = hn::Zero(d);
  for (size_t i = 0; i < n_pos; i += lanes) {
    const size_t n = std::min(lanes, n_pos - i);
    VF weights = hn::Exp(d, hn::Sub(hn::LoadN(d, scores + i, n), vlargest));
    weights = hn::IfThenElseZero(hn::FirstN(d, n), weights);
    sums = hn::Add(sums, weights);
    hn::StoreN(weights, d, scores + i, n);
  }
  return hn::ReduceSum(d, sums);
}

// out = Σ weights[pos] · V[pos] / total, four positions per pass over out.
template <class T>
void WeightedSum(const float* weights, const T* v, size_t dim, size_t n_pos, float total, float* out) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  std::fill(out, out + dim, 0.0f);
  for (size_t pos = 0; pos < n_pos; pos += 4) {
    const size_t n_rows = std::min<size_t>(4, n_pos - pos);
    const T* row = v + pos * dim;
    for (size_t i = 0; i < dim; i += lanes) {
      const size_t n = std::min(lanes, dim - i);
      VF acc = hn::LoadN(d, out + i, n);
      for (size_t j = 0; j < n_rows; ++j) {
        acc = hn::MulAdd(hn::Set(d, weights[pos + j]), LoadFloats(row + j * dim + i, n), acc);
      }
      hn::StoreN(acc, d, out + i, n);
    }
  }
  const float inverse = 1.0f / total;
  for (size_t i = 0; i < dim; ++i) out[i] *= inverse;
}

template <class T>
void AttendTyped(const ops::Attention& op, Share& share) {
  const auto dim = static_cast<size_t>(op.cache.head_dim);
  const int group = op.n_heads / op.cache.n_kv_heads;
  const float factor = 1.0f / std::sqrt(static_cast<float>(op.cache.head_dim));
  float* scores = share.scratch().data();
  share.for_ranges(op.n * op.n_heads, 1, [&](int begin, int end) HWY_ATTR {
    for (int unit = begin; unit < end; ++unit) {
      const int pos_end = op.first_pos + unit / op.n_heads + 1;
      const int first = op.window > 0 ? std::max(0, pos_end - op.window) : 0;
      const auto n_pos = static_cast<size_t>(pos_end - first);
      const size_t head = kv_offset(op.cache, unit % op.n_heads / group, first);
      const size_t at = static_cast<size_t>(unit) * dim;
      Scores(op.q + at, static_cast<const T*>(op.cache.k) + head, dim, n_pos, factor, scores);
      const float total = Exponentials(scores, n_pos);
      WeightedSum(scores, static_cast<const T*>(op.cache.v) + head, dim, n_pos, total, op.out + at);
    }
  });
}

template <class T>
void AppendTyped(const ops::KvAppend& op, Share& share) {
  const size_t lanes = hn::Lanes(DF());
  const auto dim = static_cast<size_t>(op.cache.head_dim);
  share.for_ranges(op.n * op.cache.n_kv_heads, 1, [&](int begin, int end) HWY_ATTR {
    for (int unit = begin; unit < end; ++unit) {
      const size_t from = static_cast<size_t>(unit) * dim;
      const size_t to = kv_offset(op.cache, unit % op.cache.n_kv_heads, op.first_pos + unit / op.cache.n_kv_heads);
      for (size_t i = 0; i < dim; i += lanes) {
        const size_t n = std::min(lanes, dim - i);
        StoreCached(LoadFloats(op.k + from + i, n), static_cast<T*>(op.cache.k) + to + i, n);
        StoreCached(LoadFloats(op.v + from + i, n), static_cast<T*>(op.cache.v) + to + i, n);
      }
    }
  });
}

void Attention(const ops::Attention& op, Share& share) {
  if (op.cache.type == KvType::kF16) return AttendTyped<hwy::float16_t>(op, share);
  AttendTyped<float>(op, share);
}

void KvAppend(const ops::KvAppend& op, Share& share) {
  if (op.cache.type == KvType::kF16) return AppendTyped<hwy::float16_t>(op, share);
  AppendTyped<float>(op, share);
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu {

HWY_EXPORT(Attention);
HWY_EXPORT(KvAppend);
void attention(const ops::Attention& op, Share& share) { HWY_DYNAMIC_DISPATCH(Attention)(op, share); }
void kv_append(const ops::KvAppend& op, Share& share) { HWY_DYNAMIC_DISPATCH(KvAppend)(op, share); }

}  // namespace tern::cpu
#endif
