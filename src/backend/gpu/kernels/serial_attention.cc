#include "backend/gpu/kernels/serial_attention.h"

#include <cmath>

namespace tern::gpu {

using namespace wgsl;

namespace {

uint32_t quads(const SerialAttentionConfig& c) { return c.heads.head_dim / 4; }

// What an invocation works on. Bases are in quads.
struct SerialPlaces {
  SerialPlaces(const SerialAttentionConfig& c, const ParamsBuffer& params, const WorkgroupId& wg)
      : kv_head(let("kv_head", wg.x / (c.heads.n_heads / c.heads.n_kv_heads))),
        n_pos(let("n_pos", params[kPos] + wg.y + 1u)),
        k_base(let("k_base", kv_index(c.heads, 0u, kv_head, 0u) / 4u)),
        v_base(let("v_base", kv_index(c.heads, 1u, kv_head, 0u) / 4u)),
        q_base(let("q_base", (wg.y * c.heads.n_heads + wg.x) * quads(c))) {}
  Name<U32> kv_head, n_pos, k_base, v_base, q_base;
};

// The quads of the result that an invocation adds up: tid, tid + lanes, …
struct Quads {
  Quads(const SerialAttentionConfig& c, const LocalIndex& tid) {
    const uint32_t lanes = c.caps.subgroup;
    for (uint32_t first = 0; first < quads(c); first += lanes) {
      index.push_back(let("quad", tid + first));
      is_whole.push_back(first + lanes <= quads(c));
      // Past the head's end the last quad is loaded again, and not stored.
      from.push_back(is_whole.back() ? index.back() : let("from_quad", min(index.back(), quads(c) - 1)));
      sum.push_back(var<Vec4<F32>>("acc"));
    }
  }
  std::vector<Name<U32>> index, from;
  std::vector<bool> is_whole;
  std::vector<Var<Vec4<F32>>> sum;
};

}  // namespace

// Online softmax, as many positions at a time as there are lanes: each lane has the score of one position, then its
// quads of the values of all. Positions past the end count as the last one with weight 0.
template <class KvWord>
SerialAttentionKernel<KvWord> serial_attention(const SerialAttentionConfig& c) {
  const uint32_t lanes = c.caps.subgroup;
  CHECK(lanes > 0 && c.heads.head_dim % 4 == 0);
  return kernel("serial_attention", lanes,
                [&](In<"q", Vec4<F32>> q, In<"kv", KvQuad<KvWord>> kv, ParamsBuffer params, Out<"y", Vec4<F32>> y,
                    WorkgroupId wg, LocalIndex tid) {
                  const SerialPlaces here(c, params, wg);
                  const Quads mine(c, tid);
                  auto last = let("last", here.n_pos - 1u);
                  auto greatest = var("greatest", kLowestScore);
                  auto total = var("total", 0.0f);
                  auto start = let("start", c.window > 0 ? max(here.n_pos, c.window) - c.window : e(0u));
                  loop("first", start, here.n_pos, lanes, [&](const Name<U32>& first) {
                    auto pos = let("pos", first + tid);
                    auto k_row = let("k_row", here.k_base + min(pos, last) * quads(c));
                    auto score = var("score", 0.0f);
                    loop("quad", 0u, quads(c), 1u, [&](const Name<U32>& i) {
                      auto k4 = let("k4", kv[k_row + i]);
                      auto q4 = let("q4", q[here.q_base + i]);
                      score += dot(q4, kv_values<KvWord>(k4));
                    });
                    const float scale = 1.0f / std::sqrt(static_cast<float>(c.heads.head_dim));
                    auto scaled = let("scaled", score * scale);
                    auto seen = let("seen", select(kLowestScore, softcapped(scaled, c.softcap), pos < here.n_pos));
                    auto top = reduce_lanes(Reduce::kMax, c.caps, seen, tid, lanes, lanes);
                    auto new_greatest = let("new_greatest", max(greatest, top));
                    auto shrink = let("shrink", exp(greatest - new_greatest));
                    auto weight = let("weight", select(0.0f, exp(seen - new_greatest), pos < here.n_pos));
                    greatest = new_greatest;
                    total = total * shrink + weight;
                    for (const auto& sum : mine.sum) sum = sum * shrink;
                    loop("lane", 0u, lanes, 1u, [&](const Name<U32>& lane) {
                      auto w = subgroupShuffle(weight, lane);
                      auto v_row = let("v_row", here.v_base + min(first + lane, last) * quads(c));
                      for (size_t r = 0; r < mine.sum.size(); ++r) {
                        auto v4 = let("v4", kv[v_row + mine.from[r]]);
                        mine.sum[r] += kv_values<KvWord>(v4) * w;
                      }
                    });
                  });
                  auto my_total = let("my_total", total);
                  auto all = reduce_lanes(Reduce::kSum, c.caps, my_total, tid, lanes, lanes);
                  for (size_t r = 0; r < mine.sum.size(); ++r) {
                    const auto store = [&] { y[here.q_base + mine.index[r]] = mine.sum[r] * (1.0f / all); };
                    if (mine.is_whole[r]) {
                      store();
                    } else {
                      when(mine.index[r] < quads(c), store);
                    }
                  }
                });
}

namespace {

// Four values of a head that are turned together: two pairs of RoPE, as neighbours in the cache.
struct TwoPairs {
  // Pairs 2t and 2t + 1.
  TwoPairs(const HeadsConfig& c, const Name<U32>& t) {
    const uint32_t half = c.shape.head_dim / 2;
    for (uint32_t i = 0; i < 2; ++i) {
      pair.push_back(let("pair", t * 2u + i));
      a.push_back(let("at_a", c.interleaved ? pair[i] * 2u : e(pair[i])));
      b.push_back(let("at_b", a[i] + (c.interleaved ? 1u : half)));
    }
  }
  std::vector<Name<U32>> pair, a, b;  // a, b: dimensions
};

}  // namespace

// As HeadTeams, the norm's factor comes last: rope(norm(x)) = factor · rope(x·gain).
template <class KvWord>
SerialHeadsKernel<KvWord> serial_heads(const HeadsConfig& c) {
  constexpr uint32_t kValues = kv_word_values<KvWord>();
  const HeadShape& s = c.shape;
  const uint32_t lanes = c.caps.subgroup, half = s.head_dim / 2;
  CHECK(lanes > 0 && s.head_dim % 4 == 0);
  return kernel("serial_heads", lanes,
                [&](QkvRows qkv, QueryGain q_gain, KeyGain k_gain, RopeAngles angles, ParamsBuffer params,
                    Out<"q", F32> q, Out<"kv", KvWord> kv, WorkgroupId wg, LocalIndex tid) {
                  auto from = let("from_row", (wg.y * c.rows() + wg.x) * s.head_dim);
                  auto is_query = let("is_query", wg.x < s.n_heads);
                  auto is_turned =
                      let("is_turned", wg.x < s.n_heads + s.n_kv_heads);  // values are neither normed nor turned
                  auto pos = let("pos", params[kPos] + wg.y);
                  std::optional<Name<F32>> factor;
                  if (c.normed) {
                    auto squares = var("squares", 0.0f);
                    loop("i", tid, s.head_dim, lanes, [&](const Name<U32>& i) {
                      auto v = let("v", qkv[from + i]);
                      squares += v * v;
                    });
                    auto mine = let("mine", squares);
                    auto total = reduce_lanes(Reduce::kSum, c.caps, mine, tid, lanes, lanes);
                    auto inverse = let("inverse", 1.0f / sqrt(total / static_cast<float>(s.head_dim) + c.eps));
                    factor = let("factor", select(1.0f, inverse, is_turned));
                  }
                  const auto scaled = [&](const Name<U32>& i) {
                    auto v = let("v", qkv[from + i]);
                    if (!factor) return v;
                    auto gain = let("gain", select(k_gain[i], q_gain[i], is_query));
                    return let("scaled", v * select(1.0f, gain, is_turned));
                  };
                  loop("t", tid, half / 2, lanes, [&](const Name<U32>& t) {
                    const TwoPairs two(c, t);
                    std::vector<Name<F32>> turned_a, turned_b;
                    for (size_t i = 0; i < 2; ++i) {
                      auto a = scaled(two.a[i]);
                      auto b = scaled(two.b[i]);
                      auto turn = let("turn", angles[pos * half + two.pair[i]]);
                      auto angle = let("angle", select(vec2f(1.0f, 0.0f), turn, is_turned));
                      auto new_a = let("new_a", a * at(angle, 0) - b * at(angle, 1));
                      auto new_b = let("new_b", b * at(angle, 0) + a * at(angle, 1));
                      turned_a.push_back(factor ? let("normed_a", new_a * *factor) : new_a);
                      turned_b.push_back(factor ? let("normed_b", new_b * *factor) : new_b);
                    }
                    when(
                        is_query,
                        [&] {
                          auto to_row = let("to_row", (wg.y * s.n_heads + wg.x) * s.head_dim);
                          for (size_t i = 0; i < 2; ++i) {
                            q[to_row + two.a[i]] = turned_a[i];
                            q[to_row + two.b[i]] = turned_b[i];
                          }
                        },
                        [&] {
                          auto to_row = let("to_row", ((wg.x - s.n_heads) * s.n_ctx + pos) * s.head_dim);
                          if constexpr (kValues == 1) {
                            for (size_t i = 0; i < 2; ++i) {
                              kv[to_row + two.a[i]] = turned_a[i];
                              kv[to_row + two.b[i]] = turned_b[i];
                            }
                          } else if (c.interleaved) {
                            for (size_t i = 0; i < 2; ++i)
                              kv[(to_row + two.a[i]) / 2u] = pack2x16float(vec2f(turned_a[i], turned_b[i]));
                          } else {
                            kv[(to_row + two.a[0]) / 2u] = pack2x16float(vec2f(turned_a[0], turned_a[1]));
                            kv[(to_row + two.b[0]) / 2u] = pack2x16float(vec2f(turned_b[0], turned_b[1]));
                          }
                        });
                  });
                });
}

template SerialAttentionKernel<F32> serial_attention<F32>(const SerialAttentionConfig&);
template SerialAttentionKernel<F16x2> serial_attention<F16x2>(const SerialAttentionConfig&);
template SerialHeadsKernel<F32> serial_heads<F32>(const HeadsConfig&);
template SerialHeadsKernel<F16x2> serial_heads<F16x2>(const HeadsConfig&);

}  // namespace tern::gpu
