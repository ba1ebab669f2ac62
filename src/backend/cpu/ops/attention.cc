// Causal attention over the blocks of keys and values.
//
// A unit of work is up to four queries that read the same keys and values. For a prompt they are one head's queries for
// up to four consecutive tokens. If each sequence of the batch has one token, they are up to four heads that share a KV
// head. A key or value is read and converted to float once for all of them. Each query's sums run in the same order as
// if it were alone, so its result does not depend on the others: over the head's dimensions for a score, over ascending
// positions for the weighted sum.
//
// A history is split into runs of kChunkPositions. Each run has its own softmax, and then the runs are added in order.
// So workers can share a long history, and a run's scores stay in the first-level cache.
//
// Most of the code is two loops: Scores and AddWeighted, compiled for each type of stored values, number of queries and
// instruction set. All other code takes the number of queries as an argument and calls the two through pointers
// (Loops), so it is compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/ops/attention.cc"
// clang-format off: this order
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

#include <array>
#include <cmath>
#include <type_traits>

#include "backend/cpu/ops/attention_parts.h"
#include "backend/cpu/ops/fetch_ahead.h"
#include "backend/cpu/ops/load_floats-inl.h"
#include "backend/cpu/ops/ops.h"
#include "backend/cpu/ops/results-inl.h"
#include "backend/kv_layout.h"

HWY_BEFORE_NAMESPACE();
namespace tern::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

// Positions [begin, end); empty if end ≤ begin.
struct Range {
  size_t begin, end;
};

// The stored types: F32 and F16 as they are; Q8_0 as integers, with one scale per kKvScaleGroup of them.
template <class T>
inline constexpr bool kHasScales = std::is_same_v<T, int8_t>;

// The address of the keys (or values) of one head in one KV block, and of their scales. Null: unknown.
struct Prefetch {
  const std::byte* values = nullptr;
  const std::byte* scales = nullptr;
};

// The keys (or values) of one head in one KV block, and the scales in f32 (kv_layout.h has their order).
template <class T>
struct HeadBlock {
  const T* values;
  HWY_ALIGN float scales[kHasScales<T> ? kKvBlock * kMostKvScales : 1];
  size_t n_scales;  // per position
  // The data to prefetch while this block is computed. Blocks are short, and hardware prefetching stops at the end of a
  // page.
  Prefetch next;
};

// Prefetches values [i, i + n) of the next block, and all of its scales together with the first value, because they are
// needed before any value.
template <class T>
HWY_INLINE void FetchNext(const HeadBlock<T>& block, size_t i, size_t n) {
  const Prefetch& next = block.next;
  if (!next.values) return;
  for (size_t at = i * sizeof(T); at < (i + n) * sizeof(T); at += kCacheLine) fetch_line(next.values + at);
  if constexpr (kHasScales<T>) {
    if (i != 0) return;
    const size_t bytes = kKvBlock * block.n_scales * sizeof(hwy::float16_t);
    for (size_t at = 0; at < bytes; at += kCacheLine) fetch_line(next.scales + at);
  }
}

template <class T>
HWY_INLINE void ReadBlock(const std::byte* side, const ops::KvLayer& layer, size_t head, HeadBlock<T>& block) {
  block.values = reinterpret_cast<const T*>(side) + head * kKvBlock * static_cast<size_t>(layer.head_dim);
  if constexpr (kHasScales<T>) {
    block.n_scales = kv_scales_of(layer.head_dim);
    const size_t n = kKvBlock * block.n_scales, lanes = hn::Lanes(DF());
    const auto* halves = reinterpret_cast<const hwy::float16_t*>(side + kv_scale_offset(layer)) + head * n;
    for (size_t i = 0; i < n; i += lanes) hn::StoreU(LoadWholeFloats(halves + i), DF(), block.scales + i);
  }
}

// Loads n ≤ lanes stored values, without their scale.
template <class T>
HWY_INLINE VF LoadCached(const T* at, size_t n) {
  if constexpr (kHasScales<T>) {
    const DF d;
    const hn::Rebind<int8_t, DF> d8;
    const auto codes = n == hn::Lanes(d) ? hn::LoadU(d8, at) : hn::LoadN(d8, at, n);
    return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<DF>(), codes));
  } else {
    return LoadFloats(at, n);
  }
}

// n ≤ lanes dimensions, from dimension i on, of the value at position `pos` of the block. All have the same scale.
template <class T>
HWY_INLINE VF LoadValue(const HeadBlock<T>& block, size_t dim, size_t pos, size_t i, size_t n) {
  const VF values = LoadCached(block.values + pos * dim + i, n);
  if constexpr (!kHasScales<T>) return values;
  return hn::Mul(values, hn::Set(DF(), block.scales[pos * block.n_scales + i / kKvScaleGroup]));
}

// The keys (or values) that some queries read.
struct CacheSide {
  const ops::KvRow& row;
  const ops::KvLayer& layer;
  size_t offset;  // of the side from the block's beginning, in bytes
  size_t head;

  // The addresses of the head's data in the KV block that holds position `pos`.
  Prefetch ahead(size_t pos) const {
    const std::byte* const side = row.blocks[pos / kKvBlock] + offset;
    const size_t value_bytes = layer.type == KvType::kF32 ? 4 : layer.type == KvType::kF16 ? 2 : 1;
    const size_t values = head * kKvBlock * static_cast<size_t>(layer.head_dim) * value_bytes;
    if (layer.type != KvType::kQ8_0) return {side + values, nullptr};
    const size_t scales = head * kKvBlock * kv_scales_of(layer.head_dim) * sizeof(hwy::float16_t);
    return {side + values, side + kv_scale_offset(layer) + scales};
  }

  // Calls body(block, its first position, positions in the block) for every block of the range, in order. `next` is
  // what the caller reads afterwards.
  template <class T, class Body>
  HWY_INLINE void for_blocks(Range range, Prefetch next, Body&& body) const {
    HeadBlock<T> block;
    for (size_t begin = range.begin; begin < range.end;) {
      const size_t first = begin / kKvBlock * kKvBlock, end = std::min(range.end, first + kKvBlock);
      ReadBlock<T>(row.blocks[first / kKvBlock] + offset, layer, head, block);
      block.next = end == range.end ? next : ahead(end);
      body(block, first, Range{begin - first, end - first});
      begin = end;
    }
  }
};

// The number of vectors of positions whose scores are summed at a time, limited by the registers.
#if (HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86) || HWY_ARCH_ARM_A64
inline constexpr int kVectorsAtOnce = 4;
#else
inline constexpr int kVectorsAtOnce = 2;
#endif

// q[t]·K for V vectors of positions, from `pos` of the block on. Sums run over the dimensions in order; with scales,
// first over each group.
template <int T, int V, class K>
HWY_INLINE void DotKeys(const std::array<const float*, T>& q, const HeadBlock<K>& block, size_t dim, size_t pos,
                        VF (&sums)[T][V]) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  for (auto& of_query : sums) {
    for (VF& sum : of_query) sum = hn::Zero(d);
  }
  const auto add = [&](size_t i, VF(&to)[T][V]) HWY_ATTR {
    if (pos == 0) FetchNext(block, i * kKvBlock, kKvBlock);
    VF keys[V];
    for (int v = 0; v < V; ++v) {
      keys[v] = LoadCached(block.values + i * kKvBlock + pos + static_cast<size_t>(v) * lanes, lanes);
    }
    for (int t = 0; t < T; ++t) {
      const VF query = hn::Set(d, q[t][i]);
      for (int v = 0; v < V; ++v) to[t][v] = hn::MulAdd(query, keys[v], to[t][v]);
    }
  };
  if constexpr (!kHasScales<K>) {
    for (size_t i = 0; i < dim; ++i) add(i, sums);
  } else {
    for (size_t group = 0; group < block.n_scales; ++group) {
      VF of_group[T][V];
      for (auto& of_query : of_group) {
        for (VF& sum : of_query) sum = hn::Zero(d);
      }
      const size_t end = std::min(dim, (group + 1) * kKvScaleGroup);
      for (size_t i = group * kKvScaleGroup; i < end; ++i) add(i, of_group);
      for (int v = 0; v < V; ++v) {
        const VF scale = hn::LoadU(d, block.scales + group * kKvBlock + pos + static_cast<size_t>(v) * lanes);
        for (int t = 0; t < T; ++t) sums[t][v] = hn::MulAdd(of_group[t][v], scale, sums[t][v]);
      }
    }
  }
}

// The first T values of an array, for loops that are unrolled.
template <int T, class V>
HWY_INLINE std::array<V, T> First(const V* values) {
  std::array<V, T> first;
  std::copy_n(values, T, first.begin());
  return first;
}

// scores[t][pos − from[t]] = q[t]·K[pos] · factor for T queries and the positions of `range`. Other positions of the
// same blocks are computed too, but not stored.
template <int T, class K>
HWY_NOINLINE void Scores(const float* const* queries, const CacheSide& keys, size_t dim, Range range, Prefetch next,
                         float factor, const size_t* from_positions, float* const* scores_of) {
  const auto q = First<T>(queries);
  const auto from = First<T>(from_positions);
  const auto scores = First<T>(scores_of);
  const DF d;
  const size_t lanes = hn::Lanes(d);
  const VF vfactor = hn::Set(d, factor);
  keys.for_blocks<K>(range, next, [&](const HeadBlock<K>& block, size_t first, Range positions) HWY_ATTR {
    const auto put = [&]<int V>(size_t pos) HWY_ATTR {  // V vectors of positions, from pos on
      VF sums[T][V];
      DotKeys<T, V>(q, block, dim, pos, sums);
      for (int t = 0; t < T; ++t) {
        for (int v = 0; v < V; ++v) {
          const size_t at = pos + static_cast<size_t>(v) * lanes;
          const VF result = hn::Mul(sums[t][v], vfactor);
          float* const out = scores[t] + first - from[t];
          if (at >= positions.begin && at + lanes <= positions.end) {
            hn::StoreU(result, d, out + at);
          } else {
            HWY_ALIGN float some[hn::MaxLanes(d)];
            hn::Store(result, d, some);
            for (size_t i = std::max(at, positions.begin); i < std::min(at + lanes, positions.end); ++i) {
              out[i] = some[i - at];
            }
          }
        }
      }
    };
    size_t pos = positions.begin / lanes * lanes;
    for (; pos + kVectorsAtOnce * lanes <= kKvBlock && pos + lanes < positions.end; pos += kVectorsAtOnce * lanes) {
      put.template operator()<kVectorsAtOnce>(pos);
    }
    for (; pos < positions.end; pos += lanes) put.template operator()<1>(pos);
  });
}

// Replaces scores by exp(scores − largest), not yet divided by their total.
void Exponentials(float* scores, size_t n_pos, float& largest_score, float& total) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  VF most = hn::Set(d, scores[0]);
  VF all = hn::Zero(d);  // their sum, for Max and Exp lose a NaN
  size_t i = 0;
  for (; i + lanes <= n_pos; i += lanes) {
    const VF some = hn::LoadU(d, scores + i);
    most = hn::Max(most, some);
    all = hn::Add(all, some);
  }
  if (i < n_pos) {
    most = hn::Max(most, hn::LoadNOr(most, d, scores + i, n_pos - i));
    all = hn::Add(all, hn::LoadN(d, scores + i, n_pos - i));
  }
  largest_score = hn::ReduceMax(d, most);
  const VF largest = hn::Set(d, largest_score);
  VF sums = hn::Zero(d);
  for (i = 0; i + lanes <= n_pos; i += lanes) {
    const VF weights = hn::Exp(d, hn::Sub(hn::LoadU(d, scores + i), largest));
    sums = hn::Add(sums, weights);
    hn::StoreU(weights, d, scores + i);
  }
  if (i < n_pos) {
    const VF weights = hn::Exp(d, hn::Sub(hn::LoadN(d, scores + i, n_pos - i), largest));
    sums = hn::Add(sums, hn::IfThenElseZero(hn::FirstN(d, n_pos - i), weights));
    hn::StoreN(weights, d, scores + i, n_pos - i);
  }
  total = hn::ReduceSum(d, sums);
  if (const float sum = hn::ReduceSum(d, all); std::isnan(sum)) total = sum;
}

// out[t] += Σ weights[t][pos − from[t]] · V[pos] over the positions of the range, block by block, so that a block's
// values stay in the first-level cache.
template <int T, class K>
HWY_NOINLINE void AddWeighted(const float* const* weights_of, const CacheSide& values, size_t dim, Range range,
                              Prefetch next, const size_t* from_positions, float* const* outs) {
  const auto weights = First<T>(weights_of);
  const auto from = First<T>(from_positions);
  const auto out = First<T>(outs);
  const DF d;
  const size_t lanes = hn::Lanes(d);
  values.for_blocks<K>(range, next, [&](const HeadBlock<K>& block, size_t first, Range positions) HWY_ATTR {
    const auto add = [&]<int V>(size_t i) HWY_ATTR {  // to V vectors from dimension i on
      const size_t last = std::min(lanes, dim - i - (V - 1) * lanes);
      const auto count = [&](int v) { return v + 1 < V ? lanes : last; };
      VF acc[T][V];
      for (int t = 0; t < T; ++t) {
        for (int v = 0; v < V; ++v) acc[t][v] = LoadFloats(out[t] + i + static_cast<size_t>(v) * lanes, count(v));
      }
      for (size_t pos = positions.begin; pos < positions.end; ++pos) {
        if (i == 0) FetchNext(block, pos * dim, dim);
        VF value[V];
        for (int v = 0; v < V; ++v) value[v] = LoadValue(block, dim, pos, i + static_cast<size_t>(v) * lanes, count(v));
        for (int t = 0; t < T; ++t) {
          const VF weight = hn::Set(d, weights[t][first + pos - from[t]]);
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
    for (; i + kVectorsAtOnce * lanes <= dim; i += kVectorsAtOnce * lanes) add.template operator()<kVectorsAtOnce>(i);
    for (; i < dim; i += lanes) add.template operator()<1>(i);
  });
}

// The two loops for one type of stored values and for one to kTileRows queries.
struct Loops {
  using ScoresOf = void (*)(const float* const* queries, const CacheSide& keys, size_t dim, Range range, Prefetch next,
                            float factor, const size_t* from_positions, float* const* scores_of);
  using AddWeightedOf = void (*)(const float* const* weights_of, const CacheSide& values, size_t dim, Range range,
                                 Prefetch next, const size_t* from_positions, float* const* outs);

  ScoresOf scores[ops::kTileRows];
  AddWeightedOf add_weighted[ops::kTileRows];
};

template <class K>
inline constexpr Loops kLoopsOf = {
    .scores = {Scores<1, K>, Scores<2, K>, Scores<3, K>, Scores<4, K>},
    .add_weighted = {AddWeighted<1, K>, AddWeighted<2, K>, AddWeighted<3, K>, AddWeighted<4, K>}};

const Loops& LoopsOf(KvType type) {
  if (type == KvType::kF16) return kLoopsOf<hwy::float16_t>;
  if (type == KvType::kQ8_0) return kLoopsOf<int8_t>;
  return kLoopsOf<float>;
}

// A row's query of one head, the positions that it sees, and its output.
struct Query {
  const float* q;
  Range seen;  // positions
  float* out;
  const float* sink;  // a score without a value, or null
};

size_t IndexOf(const ops::Attention& op, int row, int head) {
  return static_cast<size_t>(row) * static_cast<size_t>(op.n_heads) + static_cast<size_t>(head);
}

Range SeenBy(const ops::Attention& op, int row) {
  const int end = op.rows[static_cast<size_t>(row)].pos + 1;
  const int first = op.window > 0 ? std::max(0, end - op.window) : 0;
  return {static_cast<size_t>(first), static_cast<size_t>(end)};
}

Query QueryOf(const ops::Attention& op, int row, int head) {
  const size_t at = IndexOf(op, row, head) * static_cast<size_t>(op.cache.head_dim);
  return {op.q + at, SeenBy(op, row), op.out + at, op.sinks ? op.sinks + head : nullptr};
}

// The runs that contain these positions, and the positions of them that lie in one run.
Range RunsOf(Range seen) { return {seen.begin / kChunkPositions, runs_of(seen.end)}; }
Range PartOf(Range seen, size_t run) {
  const size_t first = run * kChunkPositions, end = first + kChunkPositions;
  return {std::clamp(seen.begin, first, end), std::clamp(seen.end, first, end)};
}

// A query's partial result for some of its history: the largest score, Σ exp(score − largest), and the sum of the
// values with these weights.
struct PartialSoftmax {
  float largest, total;  // a total of 0: no positions
  float* out;
};

// Adds the result of the run after those of `to`. Each query's runs are added in this way and in order, on whichever
// worker.
void AddRun(const PartialSoftmax& run, size_t dim, PartialSoftmax& to) {
  if (run.total == 0) return;
  if (to.total == 0) {
    std::copy_n(run.out, dim, to.out);
    to.largest = run.largest;
    to.total = run.total;
    return;
  }
  const DF d;
  const size_t lanes = hn::Lanes(d);
  const VF largest = hn::Set(d, std::max(to.largest, run.largest));
  const VF keep = hn::Exp(d, hn::Sub(hn::Set(d, to.largest), largest));
  const VF take = hn::Exp(d, hn::Sub(hn::Set(d, run.largest), largest));
  for (size_t i = 0; i < dim; i += lanes) {
    const size_t n = std::min(lanes, dim - i);
    const VF kept = hn::Mul(LoadFloats(to.out + i, n), keep);
    hn::StoreN(hn::MulAdd(LoadFloats(run.out + i, n), take, kept), d, to.out + i, n);
  }
  to.total = hn::GetLane(hn::MulAdd(hn::Set(d, run.total), take, hn::Mul(hn::Set(d, to.total), keep)));
  to.largest = hn::GetLane(largest);
}

void Finish(const PartialSoftmax& found, const float* sink, size_t dim) {
  const float inverse = 1.0f / (sink ? found.total + std::exp(*sink - found.largest) : found.total);
  for (size_t i = 0; i < dim; ++i) found.out[i] *= inverse;
}

// Up to four queries of one KV head, from rows of one sequence. The last one sees the most positions.
struct Queries {
  const ops::KvRow& row;
  size_t kv_head;
  int n;
  Query each[ops::kTileRows];

  // n_queries rows of one head, from `first_row` on; or, if are_heads, n_queries heads of one row, from `head` on.
  Queries(const ops::Attention& op, int first_row, int head, int n_queries, bool are_heads)
      : row(op.rows[static_cast<size_t>(first_row)]),
        kv_head(static_cast<size_t>(head / (op.n_heads / op.cache.n_kv_heads))),
        n(n_queries) {
    for (int t = 0; t < n; ++t)
      each[t] = are_heads ? QueryOf(op, first_row, head + t) : QueryOf(op, first_row + t, head);
  }
};

// Computes the queries' results for one run. `next` is what this worker reads afterwards.
void AttendChunk(const ops::Attention& op, const Queries& queries, size_t run, Prefetch next, std::span<float> scratch,
                 PartialSoftmax* found) {
  const auto dim = static_cast<size_t>(op.cache.head_dim);
  const float factor = 1.0f / std::sqrt(static_cast<float>(op.cache.head_dim));
  const CacheSide keys{queries.row, op.cache, op.cache.k_offset, queries.kv_head};
  const CacheSide values{queries.row, op.cache, op.cache.v_offset, queries.kv_head};
  const Loops& loops = LoopsOf(op.cache.type);
  const int n = queries.n;
  const float *q[ops::kTileRows], *weights[ops::kTileRows];
  float *scores[ops::kTileRows], *out[ops::kTileRows];
  size_t from[ops::kTileRows], end[ops::kTileRows];
  for (int t = 0; t < n; ++t) {
    q[t] = queries.each[t].q;
    weights[t] = scores[t] = scratch.data() + static_cast<size_t>(t) * kChunkPositions;
    out[t] = found[t].out;
    const Range part = PartOf(queries.each[t].seen, run);
    from[t] = part.begin;
    end[t] = part.end;
  }
  // The positions that all queries see. Earlier ones are in the windows of some only; later ones are the tile's own
  // tokens.
  const Range common{std::min(from[n - 1], end[0]), end[0]};
  if (common.begin < common.end) {
    loops.scores[n - 1](q, keys, dim, common, values.ahead(common.begin), factor, from, scores);
  }
  for (int t = 0; t < n; ++t) {
    const auto rest = [&](size_t begin, size_t to) {
      if (begin < to) loops.scores[0](q + t, keys, dim, {begin, to}, {}, factor, from + t, scores + t);
    };
    rest(from[t], common.begin);
    rest(std::max(from[t], common.end), end[t]);
  }
  const auto add_rest = [&](int t, size_t begin, size_t to) {
    if (begin < to) loops.add_weighted[0](weights + t, values, dim, {begin, to}, {}, from + t, out + t);
  };
  for (int t = 0; t < n; ++t) {
    const size_t n_seen = end[t] - from[t];
    found[t].total = 0;
    std::fill_n(out[t], dim, 0.0f);
    if (n_seen == 0) continue;
    if (op.softcap > 0) Cap(op.softcap, scores[t], n_seen);
    Exponentials(scores[t], n_seen, found[t].largest, found[t].total);
    add_rest(t, from[t], common.begin);
  }
  loops.add_weighted[n - 1](weights, values, dim, common, next, from, out);
  for (int t = 0; t < n; ++t) add_rest(t, std::max(from[t], common.end), end[t]);
}

// Computes all runs of the queries, one after the other.
void AttendAll(const ops::Attention& op, const Queries& queries, std::span<float> scratch) {
  const auto dim = static_cast<size_t>(op.cache.head_dim);
  PartialSoftmax all[ops::kTileRows], found[ops::kTileRows];
  for (int t = 0; t < queries.n; ++t) {
    all[t].out = queries.each[t].out;
    found[t].out = scratch.data() + ops::kTileRows * kChunkPositions + static_cast<size_t>(t) * dim;
  }
  const Range runs{RunsOf(queries.each[0].seen).begin, RunsOf(queries.each[queries.n - 1].seen).end};
  AttendChunk(op, queries, runs.begin, {}, scratch, all);
  for (size_t run = runs.begin + 1; run < runs.end; ++run) {
    AttendChunk(op, queries, run, {}, scratch, found);
    for (int t = 0; t < queries.n; ++t) AddRun(found[t], dim, all[t]);
  }
  for (int t = 0; t < queries.n; ++t) Finish(all[t], queries.each[t].sink, dim);
}

// The number of heads of a group to compute at a time: as many as can share their reads, but few enough that all
// workers get the same amount.
inline int HeadsAtOnce(int n_groups, int group, int n_workers) {
  int at_once = std::min(group, ops::kTileRows);
  while (at_once > 1 && n_groups * ((group + at_once - 1) / at_once) % n_workers != 0 && n_groups < 4 * n_workers) {
    at_once = (at_once + 1) / 2;
  }
  return at_once;
}

// For rows that may share their reads: a unit is one head of one tile of rows.
void AttendTiles(const ops::Attention& op, WorkQueue& queue) {
  const int n_tiles = static_cast<int>(op.tiles.size());
  queue.for_ranges(n_tiles * op.n_heads, 1, [&](int begin, int end) HWY_ATTR {
    for (int unit = begin; unit < end; ++unit) {
      const ops::RowTile& tile = op.tiles[static_cast<size_t>(unit / op.n_heads)];
      const int head = unit % op.n_heads;
      AttendAll(op, Queries(op, tile.first, head, tile.n, false), queue.scratch());
    }
  });
}

// For rows of one token per sequence: a unit is one run of a row's history, for heads that share a KV head. Consecutive
// units read adjacent memory. The worker that finishes a query's last run adds all its runs.
class ChunksOfRows {
 public:
  ChunksOfRows(const ops::Attention& op, AttentionParts& parts, const WorkQueue& queue) : op_(op), parts_(parts) {
    for (size_t row = 0; row < op.rows.size(); ++row) {
      const Range runs = RunsOf(SeenBy(op, static_cast<int>(row)));
      most_runs_ = std::max(most_runs_, runs.end - runs.begin);
    }
    const int n_groups = static_cast<int>(op.rows.size() * most_runs_) * op.cache.n_kv_heads;
    at_once_ = HeadsAtOnce(n_groups, group(), queue.n_workers());
    per_group_ = (group() + at_once_ - 1) / at_once_;
  }

  int n_units() const { return static_cast<int>(op_.rows.size() * most_runs_) * per_run(); }

  void compute(int begin, int end, std::span<float> scratch) {
    for (int unit = begin; unit < end; ++unit) {
      const int row = unit / (per_run() * static_cast<int>(most_runs_));
      const Range runs = RunsOf(SeenBy(op_, row));
      const size_t run = runs.begin + static_cast<size_t>(unit / per_run()) % most_runs_;
      if (run >= runs.end) continue;
      const int in_run = unit % per_run(), in_group = in_run % per_group_ * at_once_;
      const int head = in_run / per_group_ * group() + in_group;
      const Queries queries(op_, row, head, std::min(at_once_, group() - in_group), true);
      attend(queries, IndexOf(op_, row, head), runs, run, unit + 1 < end && in_run + 1 < per_run(), scratch);
    }
  }

 private:
  int group() const { return op_.n_heads / op_.cache.n_kv_heads; }
  int per_run() const { return per_group_ * op_.cache.n_kv_heads; }

  // `first_query` is the index of the first query. `goes_on`: the next unit belongs to the same run.
  void attend(const Queries& queries, size_t first_query, Range runs, size_t run, bool goes_on,
              std::span<float> scratch) {
    if (runs.end - runs.begin == 1) return AttendAll(op_, queries, scratch);
    const auto dim = static_cast<size_t>(op_.cache.head_dim);
    PartialSoftmax found[ops::kTileRows];
    for (int t = 0; t < queries.n; ++t) {
      found[t].out = part(first_query + static_cast<size_t>(t), run - runs.begin).out;
    }
    const bool ends_group = (first_query + static_cast<size_t>(queries.n)) % static_cast<size_t>(group()) == 0;
    const CacheSide next{queries.row, op_.cache, op_.cache.k_offset, queries.kv_head + (ends_group ? 1 : 0)};
    AttendChunk(op_, queries, run, goes_on ? next.ahead(run * kChunkPositions) : Prefetch{}, scratch, found);
    for (int t = 0; t < queries.n; ++t) {
      float* const kept = found[t].out - AttentionParts::kOut;
      kept[0] = found[t].largest;
      kept[1] = found[t].total;
    }
    if (!parts_.is_last(first_query, static_cast<int>(runs.end - runs.begin))) return;
    for (int t = 0; t < queries.n; ++t) {
      PartialSoftmax all{.largest = 0, .total = 0, .out = queries.each[t].out};
      for (size_t i = 0; i < runs.end - runs.begin; ++i)
        AddRun(part(first_query + static_cast<size_t>(t), i), dim, all);
      Finish(all, queries.each[t].sink, dim);
    }
  }

  PartialSoftmax part(size_t query, size_t run) const {
    float* const at = parts_.part(query, run, most_runs_, op_.cache.head_dim);
    return {at[0], at[1], at + AttentionParts::kOut};
  }

  const ops::Attention& op_;
  AttentionParts& parts_;
  size_t most_runs_ = 0;  // of any row
  int at_once_, per_group_;
};

void Attention(const ops::Attention& op, AttentionParts& parts, WorkQueue& queue) {
  // If every tile is a single row, rows cannot share their reads, so heads share them instead.
  if (op.tiles.size() != op.rows.size()) return AttendTiles(op, queue);
  ChunksOfRows runs(op, parts, queue);
  queue.for_ranges(runs.n_units(), 1, [&](int begin, int end) HWY_ATTR { runs.compute(begin, end, queue.scratch()); });
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tern::cpu {

HWY_EXPORT(Attention);
size_t attention_scratch(int head_dim) {
  return static_cast<size_t>(ops::kTileRows) * (kChunkPositions + static_cast<size_t>(head_dim));
}
void attention(const ops::Attention& op, AttentionParts& parts, WorkQueue& queue) {
  HWY_DYNAMIC_DISPATCH(Attention)(op, parts, queue);
}

}  // namespace tern::cpu
#endif
