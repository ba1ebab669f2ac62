// The pairs of rows of q, k and v that RoPE rotates together: their products with normed or stored activations.
#pragma once

#include "backend/gpu/kernels/ternary/ternary_qkv.h"

namespace tern::gpu {

// The pair of a group of lanes, and its two values before rotation.
struct QkvPair {
  TernaryDots dots;
  wgsl::Name<wgsl::U32> head, first_pair, pair;  // heads of queries, then keys, then values
  wgsl::Name<wgsl::Bool> is_query, is_key;       // is_key: or a query
  wgsl::Name<wgsl::F32> a, b;
};

// `in`: activations as in ternary_bodies.h.
template <class Activations>
QkvPair multiply_pair(const TernaryQkvConfig& c, const wgsl::In<"w", TernaryWeights>& w, Activations& in,
                      const WeightScales& scales, const wgsl::WorkgroupId& wg, const wgsl::LocalIndex& tid) {
  using namespace wgsl;
  const TernaryConfig tiling = ternary_tiling(c);
  const HeadShape& s = c.heads;
  const uint32_t half = s.head_dim / 2, n_pairs = c.pairs_per_workgroup();
  TernaryDots dots(tiling, tid);
  auto head = let("head", wg.x / (half / n_pairs));
  auto first_pair = let("first_pair", wg.x % (half / n_pairs) * n_pairs);
  auto pair = let("pair", first_pair + dots.group());
  // A pair's two rows are half a head apart, or adjacent.
  auto row_a = let("row_a", head * s.head_dim + (c.interleaved ? pair * 2u : e(pair)));
  auto row_b = let("row_b", row_a + (c.interleaved ? 1u : half));
  auto start_a = let("start_a", row_a * tiling.row_vectors());
  auto start_b = let("start_b", row_b * tiling.row_vectors());
  const std::vector<Name<U32>> starts = {start_a, start_b};
  const auto load = [&](size_t, Temp<U32> i) { return w[std::move(i)]; };
  dots.load_weights(starts, load);
  in.prepare();
  const auto totals = in.multiply(dots, starts, load);
  const ActivationScale x_scale = in.scale(dots);
  auto is_query = let("is_query", head < s.n_heads);
  auto is_key = let("is_key", head < s.n_heads + s.n_kv_heads);
  auto key_or_value = let("key_or_value", select(scales.get<"c">(), scales.get<"b">(), is_key));
  auto scale = let("scale", select(key_or_value, scales.get<"a">(), is_query));
  auto a = let("a", dequantize(totals[0], x_scale, scale));
  auto b = let("b", dequantize(totals[1], x_scale, scale));
  return {std::move(dots), head, first_pair, pair, is_query, is_key, a, b};
}

// Where a pair's first value is in a token's part of a tile of 2 · pairs_per_workgroup() values, in storage order: two
// runs if pairs are half a head apart, otherwise one.
inline wgsl::Temp<wgsl::U32> place_in_tile(const TernaryQkvConfig& c, const QkvPair& pair) {
  return c.interleaved ? pair.dots.group() * 2u : wgsl::e(pair.dots.group());
}

// Rotates a pair and stores it in the tile. `turns`: where the angles of its token begin.
inline void store_turned(const TernaryQkvConfig& c, const QkvPair& pair, const wgsl::Name<wgsl::U32>& turns,
                         const wgsl::In<"angles", wgsl::Vec2<wgsl::F32>>& rope, wgsl::Temp<wgsl::U32> place,
                         const wgsl::Shared<wgsl::F32>& tile) {
  using namespace wgsl;
  auto turn = let("turn", rope[turns * (c.heads.head_dim / 2) + pair.pair]);
  auto angle = let("angle", select(vec2f(1.0f, 0.0f), turn, pair.is_key));  // values are not rotated
  auto at_a = let("at_a", std::move(place));
  tile[at_a] = pair.a * at(angle, 0) - pair.b * at(angle, 1);
  tile[at_a + (c.interleaved ? 1u : c.pairs_per_workgroup())] = pair.b * at(angle, 0) + pair.a * at(angle, 1);
}

}  // namespace tern::gpu
