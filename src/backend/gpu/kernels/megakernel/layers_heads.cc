// How attention in the megakernels prepares heads: head norms, RoPE, and rounding to the cache's format.
#include <bit>
#include <cmath>

#include "backend/gpu/kernels/megakernel/layers_attention.h"

namespace tern::gpu::layers {

namespace {

// The number of lanes that add up the squares of a head's pairs, and the number of such sums per head.
uint32_t lanes_of_squares(const LayersShape& c) { return std::min(c.heads.head_dim / 2, c.caps.subgroup); }
uint32_t parts_of_head(const LayersShape& c) { return c.heads.head_dim / 2 / lanes_of_squares(c); }

}  // namespace

bool can_norm_heads(const LayersShape& c) {
  const uint32_t lanes = lanes_of_squares(c);
  return std::has_single_bit(lanes) && c.heads.head_dim / 2 % lanes == 0;
}

uint32_t head_norms_bytes(const LayersShape& c) { return 4 * (c.group_heads() + 2) * parts_of_head(c); }

// Prepares the heads, as pairs that RoPE rotates: those of the queries, then of the key and the value.
void LayersAttention::take_heads(const Here& here, const Name<U32>& layer, const Name<U32>& tag) const {
  const HeadShape& h = c_.heads;
  const uint32_t wg = c_.workgroup, half = h.head_dim / 2, most_pairs = (c_.group_heads() + 2) * half;
  auto n_pairs = let("n_pairs", (here.n_heads + 2u) * half);
  std::vector<Pair> pairs;
  for (uint32_t k = 0; k * wg < most_pairs; ++k) {
    Pair p;
    p.index = let("pair", min(b_.tid + k * wg, n_pairs - 1u));
    p.slot = let("slot", p.index / half);
    auto pair = let("pair_of_head", p.index % half);
    const auto& angle = here.angles[k];
    p.is_query = let("is_query", p.slot < here.n_heads);
    auto is_value = let("is_value", p.slot == here.n_heads + 1u);
    auto of_kv = let("of_kv", here.kv_head + h.n_heads + select(0u, e(h.n_kv_heads), is_value));
    auto head = let("head", select(of_kv, here.first_head + p.slot, p.is_query));
    auto safe_head = let("safe_slot", select(0u, head, here.is_used));
    p.a_at = let("a_at", c_.interleaved ? pair * 2u : e(pair));
    p.b_at = let("b_at", c_.interleaved ? pair * 2u + 1u : pair + half);
    const auto gain_at = [&](const Name<U32>& at) {
      auto gains =
          let("gains_at", layer * norms_->layer_values + select(norms_->k_gain, e(norms_->q_gain), p.is_query));
      auto gain = let("head_gain", norms_->vectors[gains + at]);
      return let("head_gain", select(gain, 1.0f, is_value));
    };
    Name<F32> gain_a, gain_b;
    if (norms_) gain_a = gain_at(p.a_at), gain_b = gain_at(p.b_at);
    auto place_a = in_row(here, let("place", safe_head * h.head_dim + p.a_at + c_.qkv_words()));
    auto place_b = in_row(here, let("place", safe_head * h.head_dim + p.b_at + c_.qkv_words()));
    Mailbox::WaitOptions options;
    if (c_.tokens == 1) options.is_needed = let("is_needed", b_.tid + k * wg < n_pairs);
    const auto values = mailbox_.wait({place_a, place_b}, tag, options);
    p.a = values[0], p.b = values[1];
    auto a = norms_ ? let("weighted", p.a * gain_a) : p.a;
    auto b = norms_ ? let("weighted", p.b * gain_b) : p.b;
    auto turn = let("turn", select(angle, vec2f(1.0f, 0.0f), is_value));
    auto factor = let("q_factor", select(1.0f, e(1.0f / std::sqrt(static_cast<float>(h.head_dim))), p.is_query));
    p.turned_a = let("turned_a", (a * at(turn, 0) - b * at(turn, 1)) * factor);
    p.turned_b = let("turned_b", (b * at(turn, 0) + a * at(turn, 1)) * factor);
    pairs.push_back(p);
  }
  const auto factors = norms_ ? norm_factors(here, pairs, n_pairs) : std::vector<Name<F32>>();
  for (uint32_t k = 0; k < pairs.size(); ++k) {
    const Pair& p = pairs[k];
    auto a = norms_ ? let("normed", p.turned_a * factors[k]) : p.turned_a;
    auto b = norms_ ? let("normed", p.turned_b * factors[k]) : p.turned_b;
    // Keys and values are rounded to the cache's format.
    auto cached = let("cached", pack2x16float(vec2f(a, b)));
    auto rounded = let("as_cached", unpack2x16float(cached));
    when(b_.tid + k * wg < n_pairs, [&] {
      turned_[p.slot * h.head_dim + p.a_at] = select(at(rounded, 0), a, p.is_query);
      turned_[p.slot * h.head_dim + p.b_at] = select(at(rounded, 1), b, p.is_query);
    });
  }
  workgroupBarrier();
}

// RoPE is linear, so the factor of a head's norm is applied last. Adjacent invocations have adjacent pairs.
std::vector<Name<F32>> LayersAttention::norm_factors(const Here& here, const std::vector<Pair>& pairs,
                                                     const Name<U32>& n_pairs) const {
  const uint32_t lanes = lanes_of_squares(c_), parts = parts_of_head(c_);
  for (uint32_t k = 0; k < pairs.size(); ++k) {
    const Pair& p = pairs[k];
    auto mine = let("my_squares", p.a * p.a + p.b * p.b);
    auto sum = reduce_lanes(Reduce::kSum, c_.caps, mine, b_.tid, lanes, c_.workgroup);
    when(b_.tid % lanes == 0u && b_.tid + k * c_.workgroup < n_pairs, [&] { squares_[p.index / lanes] = sum; });
  }
  workgroupBarrier();
  std::vector<Name<F32>> factors;
  for (const Pair& p : pairs) {
    auto total = var("head_total", 0.0f);
    for (uint32_t part = 0; part < parts; ++part) total += squares_[p.slot * parts + part];
    auto factor = let("head_factor", 1.0f / sqrt(total / static_cast<float>(c_.heads.head_dim) + norms_->eps));
    factors.push_back(let("head_factor", select(1.0f, factor, p.slot <= here.n_heads)));  // values have no norm
  }
  return factors;
}

}  // namespace tern::gpu::layers
