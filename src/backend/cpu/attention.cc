// Causal attention over the KV cache, a unit for every query head and kTileTokens tokens; and the append that fills the
// cache.
//
// The tokens of a tile share what they all see of the cache: a key or value is read, and made a float, once for them.
// Each token's sums run in the same order as if it came alone, so that its result does not depend on its neighbours:
// over the head's dimensions for a score, over ascending positions for the weighted sum.
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
#include "backend/cpu/results-inl.h"
#include "backend/kv_layout.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

// Positions [begin, end); none where end ≤ begin.
struct Range {
  size_t begin, end;
};

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

inline constexpr int kTileTokens = kAttentionTokens;

// scores[t][pos − from[t]] = q[t]·K[pos] · factor for T tokens and the positions [begin, end).
template <int T, class K>
void Scores(const float* const (&q)[T], const K* keys, size_t dim, Range positions, float factor,
            const size_t (&from)[T], float* const (&scores)[T]) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  const auto put = [&]<int P>(size_t pos) HWY_ATTR {  // P positions from pos on
    const K* const k = keys + pos * dim;
    VF acc[T][P];
    for (int t = 0; t < T; ++t) {
      for (int p = 0; p < P; ++p) acc[t][p] = hn::Zero(d);
    }
    for (size_t i = 0; i < dim; i += lanes) {
      const size_t n = std::min(lanes, dim - i);
      VF key[P];
      for (int p = 0; p < P; ++p) key[p] = LoadFloats(k + static_cast<size_t>(p) * dim + i, n);
      for (int t = 0; t < T; ++t) {
        const VF query = LoadFloats(q[t] + i, n);
        for (int p = 0; p < P; ++p) acc[t][p] = hn::MulAdd(query, key[p], acc[t][p]);
      }
    }
    for (int t = 0; t < T; ++t) {
      for (int p = 0; p < P; ++p) {
        scores[t][pos + static_cast<size_t>(p) - from[t]] = hn::ReduceSum(d, acc[t][p]) * factor;
      }
    }
  };
  size_t pos = positions.begin;
  for (; pos + 2 <= positions.end; pos += 2) put.template operator()<2>(pos);
  if (pos < positions.end) put.template operator()<1>(pos);
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

// out[t] += Σ weights[t][pos − from[t]] · V[pos] over the positions [begin, end), in blocks of them whose values stay
// in the first-level cache.
template <int T, class K>
void AddWeighted(const float* const (&weights)[T], const K* values, size_t dim, Range positions,
                 const size_t (&from)[T], float* const (&out)[T]) {
  constexpr size_t kBlock = 64;
  const DF d;
  const size_t lanes = hn::Lanes(d);
  for (size_t begin = positions.begin; begin < positions.end; begin += kBlock) {
    const size_t end = std::min(begin + kBlock, positions.end);
    const auto add = [&]<int V>(size_t i) HWY_ATTR {  // to V vectors from dimension i on
      const size_t last = std::min(lanes, dim - i - (V - 1) * lanes);
      const auto count = [&](int v) { return v + 1 < V ? lanes : last; };
      VF acc[T][V];
      for (int t = 0; t < T; ++t) {
        for (int v = 0; v < V; ++v) acc[t][v] = LoadFloats(out[t] + i + static_cast<size_t>(v) * lanes, count(v));
      }
      for (size_t pos = begin; pos < end; ++pos) {
        VF value[V];
        for (int v = 0; v < V; ++v) {
          value[v] = LoadFloats(values + pos * dim + i + static_cast<size_t>(v) * lanes, count(v));
        }
        for (int t = 0; t < T; ++t) {
          const VF weight = hn::Set(d, weights[t][pos - from[t]]);
          for (int v = 0; v < V; ++v) acc[t][v] = hn::MulAdd(weight, value[v], acc[t][v]);
        }
      }
      for (int t = 0; t < T; ++t) {
        for (int v = 0; v < V; ++v) {
          hn::StoreN(acc[t][v], d, out[t] + i + static_cast<size_t>(v) * lanes, count(v));
        }
      }
    };
    size_t i = 0;
    for (; i + lanes < dim; i += 2 * lanes) add.template operator()<2>(i);
    if (i < dim) add.template operator()<1>(i);
  }
}

// What one token's query of one head sees, and where its scores and its result are.
struct Query {
  const float* q;
  Range seen;  // positions
  float* scores;
  float* out;
};

Query QueryOf(const ops::Attention& op, int token, int head, float* scores) {
  const int end = op.first_pos + token + 1;
  const int first = op.window > 0 ? std::max(0, end - op.window) : 0;
  const size_t at = (static_cast<size_t>(token) * static_cast<size_t>(op.n_heads) + static_cast<size_t>(head)) *
                    static_cast<size_t>(op.cache.head_dim);
  return {op.q + at, {static_cast<size_t>(first), static_cast<size_t>(end)}, scores, op.out + at};
}

// T tokens of one head.
template <int T, class K>
void Attend(const ops::Attention& op, int token, int head, float* scratch) {
  const auto dim = static_cast<size_t>(op.cache.head_dim);
  const float factor = 1.0f / std::sqrt(static_cast<float>(op.cache.head_dim));
  const size_t row = kv_offset(op.cache, head / (op.n_heads / op.cache.n_kv_heads), 0);
  const K* const keys = static_cast<const K*>(op.cache.k) + row;
  const K* const values = static_cast<const K*>(op.cache.v) + row;
  const float *q[T], *weights[T];
  float *scores[T], *out[T];
  size_t from[T];
  Query queries[T];
  const size_t stride = static_cast<size_t>(op.first_pos + token + T);
  for (int t = 0; t < T; ++t) {
    queries[t] = QueryOf(op, token + t, head, scratch + static_cast<size_t>(t) * stride);
    q[t] = queries[t].q;
    weights[t] = scores[t] = queries[t].scores;
    out[t] = queries[t].out;
    from[t] = queries[t].seen.begin;
  }
  // What all of them see; before it is what only the windows of some hold, after it the tile's own tokens.
  const Range common{std::min(queries[T - 1].seen.begin, queries[0].seen.end), queries[0].seen.end};
  Scores<T>(q, keys, dim, common, factor, from, scores);
  for (const Query& query : queries) {
    const auto rest = [&](size_t from_pos, size_t to) HWY_ATTR {
      Scores<1>({query.q}, keys, dim, {from_pos, to}, factor, {query.seen.begin}, {query.scores});
    };
    rest(query.seen.begin, common.begin);
    rest(std::max(query.seen.begin, common.end), query.seen.end);
  }
  float totals[T];
  for (int t = 0; t < T; ++t) {
    if (op.softcap > 0) Cap(op.softcap, scores[t], queries[t].seen.end - queries[t].seen.begin);
    totals[t] = Exponentials(scores[t], queries[t].seen.end - queries[t].seen.begin);
    std::fill_n(out[t], dim, 0.0f);
    AddWeighted<1>({weights[t]}, values, dim, {from[t], common.begin}, {from[t]}, {out[t]});
  }
  AddWeighted<T>(weights, values, dim, common, from, out);
  for (int t = 0; t < T; ++t) {
    AddWeighted<1>({weights[t]}, values, dim, {std::max(from[t], common.end), queries[t].seen.end}, {from[t]},
                   {out[t]});
    const float inverse = 1.0f / totals[t];
    for (size_t i = 0; i < dim; ++i) out[t][i] *= inverse;
  }
}

template <class K>
void AttendTyped(const ops::Attention& op, Share& share) {
  float* const scratch = share.scratch().data();
  const int n_tiles = (op.n + kTileTokens - 1) / kTileTokens;
  share.for_ranges(n_tiles * op.n_heads, 1, [&](int begin, int end) HWY_ATTR {
    for (int unit = begin; unit < end; ++unit) {
      const int head = unit % op.n_heads, token = unit / op.n_heads * kTileTokens;
      if (token + kTileTokens <= op.n) {
        Attend<kTileTokens, K>(op, token, head, scratch);
      } else {
        for (int t = token; t < op.n; ++t) Attend<1, K>(op, t, head, scratch);
      }
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
