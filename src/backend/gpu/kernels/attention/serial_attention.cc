#include "backend/gpu/kernels/attention/serial_attention.h"

#include <cmath>

namespace tern::gpu {

using namespace wgsl;

namespace {

constexpr uint32_t kGroupQuads = kScaleGroup / 4;

uint32_t quads(const SerialAttentionConfig& c) { return c.heads.head_dim / 4; }

// The work of one invocation. Bases are in quads.
struct SerialPlaces {
  SerialPlaces(const SerialAttentionConfig& c, const ParamsBuffer& params, const WorkgroupId& wg)
      : kv_head(let("kv_head", wg.x / (c.heads.n_heads / c.heads.n_kv_heads))),
        n_pos(let("n_pos", row_word(params, wg.y, kRowPos) + 1u)),
        table(let("table", row_word(params, wg.y, kRowTable))),
        q_base(let("q_base", (wg.y * c.heads.n_heads + wg.x) * quads(c))) {}
  Name<U32> kv_head, n_pos, table, q_base;
};

// The quads of the result that an invocation adds up: tid, tid + lanes, …
struct Quads {
  Quads(const SerialAttentionConfig& c, const LocalIndex& tid) {
    const uint32_t lanes = c.caps.subgroup;
    for (uint32_t first = 0; first < quads(c); first += lanes) {
      index.push_back(let("quad", tid + first));
      is_whole.push_back(first + lanes <= quads(c));
      // Past the head's end the last quad is loaded again, but not stored.
      from.push_back(is_whole.back() ? index.back() : let("from_quad", min(index.back(), quads(c) - 1)));
      sum.push_back(var<Vec4<F32>>("acc"));
    }
  }
  std::vector<Name<U32>> index, from;
  std::vector<bool> is_whole;
  std::vector<Var<Vec4<F32>>> sum;
};

}  // namespace

// Online softmax over as many positions at a time as there are lanes, all in one block. Each lane has the score of one
// position, and its quads of all positions' values. Positions before the window or past the end have weight 0.
template <class KvWord>
SerialAttentionKernel<KvWord> serial_attention(const SerialAttentionConfig& c) {
  const uint32_t lanes = c.caps.subgroup, row_quads = kv_row_quads<KvWord>(c.heads.head_dim);
  CHECK(lanes > 0 && kBlockPositions % lanes == 0 && c.heads.head_dim % 4 == 0);
  return kernel("serial_attention", lanes,
                [&](In<"q", Vec4<F32>> q, In<"kv", KvQuad<KvWord>> kv, ParamsBuffer params, Out<"y", Vec4<F32>> y,
                    WorkgroupId wg, LocalIndex tid) {
                  const SerialPlaces here(c, params, wg);
                  const Quads mine(c, tid);
                  auto greatest = var("greatest", kLowestScore);
                  auto total = var("total", 0.0f);
                  auto start = let("start", c.window > 0 ? max(here.n_pos, c.window) - c.window : e(0u));
                  const auto is_seen = [&](const Name<U32>& pos) {
                    return c.window > 0 ? pos >= start && pos < here.n_pos : pos < here.n_pos;
                  };
                  loop("first", start / lanes * lanes, here.n_pos, lanes, [&](const Name<U32>& first) {
                    auto pos = let("pos", first + tid);
                    auto block = kv_block(params, here.table, first);
                    auto rows = let("rows", kv_place(c.heads, block, here.kv_head, first));
                    auto k_row = let("k_row", (rows + tid) * row_quads);
                    auto score = var("score", 0.0f);
                    const auto add_quad = [&](const Name<U32>& i, const Var<F32>& to) {
                      auto k4 = let("k4", kv[k_row + i]);
                      auto q4 = let("q4", q[here.q_base + i]);
                      to += dot(q4, kv_values<KvWord>(k4));
                    };
                    if constexpr (kHasKvScales<KvWord>) {
                      loop("group", 0u, kv_scale_groups(c.heads.head_dim), 1u, [&](const Name<U32>& group) {
                        auto sum = var("of_group", 0.0f);
                        auto first_quad = let("first_quad", group * kGroupQuads);
                        auto end = let("end_quad", min(first_quad + kGroupQuads, quads(c)));
                        loop("quad", first_quad, end, 1u, [&](const Name<U32>& i) { add_quad(i, sum); });
                        auto scale = kv_scale_at(kv, k_row, group, c.heads.head_dim);
                        score += sum * scale;
                      });
                    } else {
                      loop("quad", 0u, quads(c), 1u, [&](const Name<U32>& i) { add_quad(i, score); });
                    }
                    const float scale = 1.0f / std::sqrt(static_cast<float>(c.heads.head_dim));
                    auto scaled = let("scaled", score * scale);
                    auto seen = let("seen", select(kLowestScore, softcapped(scaled, c.softcap), is_seen(pos)));
                    auto top = reduce_lanes(Reduce::kMax, c.caps, seen, tid, lanes, lanes);
                    auto new_greatest = let("new_greatest", max(greatest, top));
                    auto shrink = let("shrink", exp(greatest - new_greatest));
                    auto weight = let("weight", select(0.0f, exp(seen - new_greatest), is_seen(pos)));
                    greatest = new_greatest;
                    total = total * shrink + weight;
                    for (const auto& sum : mine.sum) sum = sum * shrink;
                    auto v_rows = let("v_rows", rows + c.heads.n_kv_heads * kBlockPositions);
                    auto n_here = let("n_here", min(here.n_pos - first, lanes));
                    loop("lane", 0u, n_here, 1u, [&](const Name<U32>& lane) {
                      auto w = subgroupShuffle(weight, lane);
                      auto v_row = let("v_row", (v_rows + lane) * row_quads);
                      for (size_t r = 0; r < mine.sum.size(); ++r) {
                        auto v4 = let("v4", kv[v_row + mine.from[r]]);
                        if constexpr (kHasKvScales<KvWord>) {
                          auto group = let("group", mine.from[r] / kGroupQuads);
                          auto of_group = kv_scale_at(kv, v_row, group, c.heads.head_dim);
                          mine.sum[r] += kv_values<KvWord>(v4) * (w * of_group);
                        } else {
                          mine.sum[r] += kv_values<KvWord>(v4) * w;
                        }
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

// Four values of a head that are rotated together: two RoPE pairs, adjacent in the cache.
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

// Stores a row of codes without keeping its values in memory: a lane has the groups of one word of scales, and computes
// each value twice, for the scale and for its code. turned(at_a, at_b, pair): both values of a pair.
template <class Kv, class Turned>
void store_codes_in_loops(const HeadsConfig& c, const LocalIndex& tid, const Kv& kv, const Name<U32>& to_row,
                          const Turned& turned) {
  const uint32_t head_dim = c.shape.head_dim, half = head_dim / 2, words = kv_scale_words(head_dim);
  const auto value = [&](const Name<U32>& i) {
    auto is_b = let("is_b", c.interleaved ? (i & 1u) == 1u : i >= half);
    auto pair = let("pair", c.interleaved ? i / 2u : i % half);
    auto at_a = let("at_a", c.interleaved ? pair * 2u : e(pair));
    auto at_b = let("at_b", at_a + (c.interleaved ? 1u : half));
    const auto [a, b] = turned(at_a, at_b, pair);
    return let("value", select(a, b, is_b));
  };
  loop("word", tid, words, c.caps.subgroup, [&](const Name<U32>& word) {
    auto scales = var("scale_bits", 0u);
    loop("high", 0u, 2u, 1u, [&](const Name<U32>& high) {
      auto first = let("first_of_group", (word + high * words) * kScaleGroup);
      auto end = let("end_of_group", min(first + kScaleGroup, head_dim));
      auto most = var("most", 0.0f);
      loop("i", first, end, 1u, [&](const Name<U32>& i) {
        auto v = value(i);
        most = max(most, abs(v));
      });
      const KvScale by = kv_scale(let("greatest", most));
      scales += by.bits << (high * 16u);
      loop("quad", first / 4u, end / 4u, 1u, [&](const Name<U32>& quad) {
        auto four = var<Vec4<F32>>("four");
        for (uint32_t i = 0; i < 4; ++i) {
          auto dim = let("dim", quad * 4u + i);
          at(four, i) = value(dim);
        }
        auto v = let("v", four);
        kv[to_row + quad] = kv_codes(v, by);
      });
    });
    kv[to_row + head_dim / 4 + word] = packed<I8x4>(e(scales));
  });
}

}  // namespace

// The norm's factor is applied last, as in HeadTeams: rope(norm(x)) = factor · rope(x·gain).
template <class KvWord>
SerialHeadsKernel<KvWord> serial_heads(const HeadsConfig& c) {
  const HeadShape& s = c.shape;
  const uint32_t lanes = c.caps.subgroup, half = s.head_dim / 2;
  CHECK(lanes > 0 && s.head_dim % 4 == 0);
  return kernel(
      "serial_heads", lanes,
      [&](QkvRows qkv, QueryGain q_gain, KeyGain k_gain, RopeAngles angles, ParamsBuffer params, Out<"q", F32> q,
          Out<"kv", KvWord> kv, WorkgroupId wg, LocalIndex tid) {
        auto from = let("from_row", (wg.y * c.rows() + wg.x) * s.head_dim);
        auto is_query = let("is_query", wg.x < s.n_heads);
        auto is_turned = let("is_turned", wg.x < s.n_heads + s.n_kv_heads);  // values are neither normed nor rotated
        auto pos = let("pos", row_word(params, wg.y, kRowPos));
        auto turns = let("turns", row_word(params, wg.y, kRowAngles) + pos);
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
        const auto turned = [&](const Name<U32>& at_a, const Name<U32>& at_b, const Name<U32>& pair) {
          auto a = scaled(at_a);
          auto b = scaled(at_b);
          auto turn = let("turn", angles[turns * half + pair]);
          auto angle = let("angle", select(vec2f(1.0f, 0.0f), turn, is_turned));
          auto new_a = let("new_a", a * at(angle, 0) - b * at(angle, 1));
          auto new_b = let("new_b", b * at(angle, 0) + a * at(angle, 1));
          auto normed_a = factor ? let("normed_a", new_a * *factor) : new_a;
          auto normed_b = factor ? let("normed_b", new_b * *factor) : new_b;
          return std::pair(normed_a, normed_b);
        };
        const auto store_query = [&](const TwoPairs& two, const std::vector<std::pair<Name<F32>, Name<F32>>>& v) {
          auto to_row = let("to_row", (wg.y * s.n_heads + wg.x) * s.head_dim);
          for (size_t i = 0; i < 2; ++i) {
            q[to_row + two.a[i]] = v[i].first;
            q[to_row + two.b[i]] = v[i].second;
          }
        };
        const auto for_two_pairs = [&](const auto& use) {
          loop("t", tid, half / 2, lanes, [&](const Name<U32>& t) {
            const TwoPairs two(c, t);
            std::vector<std::pair<Name<F32>, Name<F32>>> values;
            for (size_t i = 0; i < 2; ++i) values.push_back(turned(two.a[i], two.b[i], two.pair[i]));
            use(two, values);
          });
        };
        if constexpr (kHasKvScales<KvWord>) {
          when(
              is_query, [&] { for_two_pairs(store_query); },
              [&] {
                auto table = let("table", row_word(params, wg.y, kRowTable));
                auto block = kv_block(params, table, pos);
                auto to_row =
                    let("to_row", kv_place(s, block, wg.x - s.n_heads, pos) * kv_row_words<KvWord>(s.head_dim));
                store_codes_in_loops(c, tid, kv, to_row, turned);
              });
        } else {
          for_two_pairs([&](const TwoPairs& two, const auto& v) {
            when(
                is_query, [&] { store_query(two, v); },
                [&] {
                  auto table = let("table", row_word(params, wg.y, kRowTable));
                  auto block = kv_block(params, table, pos);
                  auto to_row = let("to_row", kv_place(s, block, wg.x - s.n_heads, pos) * s.head_dim);
                  if constexpr (kv_word_values<KvWord>() == 1) {
                    for (size_t i = 0; i < 2; ++i) {
                      kv[to_row + two.a[i]] = v[i].first;
                      kv[to_row + two.b[i]] = v[i].second;
                    }
                  } else if (c.interleaved) {
                    for (size_t i = 0; i < 2; ++i) {
                      kv[(to_row + two.a[i]) / 2u] = pack2x16float(vec2f(v[i].first, v[i].second));
                    }
                  } else {
                    kv[(to_row + two.a[0]) / 2u] = pack2x16float(vec2f(v[0].first, v[1].first));
                    kv[(to_row + two.b[0]) / 2u] = pack2x16float(vec2f(v[0].second, v[1].second));
                  }
                });
          });
        }
      });
}

template SerialAttentionKernel<F32> serial_attention<F32>(const SerialAttentionConfig&);
template SerialAttentionKernel<F16x2> serial_attention<F16x2>(const SerialAttentionConfig&);
template SerialAttentionKernel<I8x4> serial_attention<I8x4>(const SerialAttentionConfig&);
template SerialHeadsKernel<F32> serial_heads<F32>(const HeadsConfig&);
template SerialHeadsKernel<F16x2> serial_heads<F16x2>(const HeadsConfig&);
template SerialHeadsKernel<I8x4> serial_heads<I8x4>(const HeadsConfig&);

}  // namespace tern::gpu
