// How attention in the megakernels processes a workgroup's positions, and adds up their weighted values.
#include "backend/gpu/kernels/megakernel/layers_attention.h"

namespace tern::gpu::layers {

LayersAttention::HeadSums LayersAttention::new_sums() const {
  HeadSums of_heads;
  for (uint32_t head = 0; head < c_.group_heads(); ++head) {
    of_heads.greatest.push_back(var("greatest", kLowestScore));
    of_heads.total.push_back(var("total", 0.0f));
    for (uint32_t i = 0; i < 2 * c_.vectors_of_lane(); ++i) of_heads.acc.push_back(var<Vec4<F32>>("acc"));
  }
  return of_heads;
}

// Eight dimensions of a slot: those of vector `vector` of this lane.
std::vector<Name<Vec4<F32>>> LayersAttention::quads_of(const Here& here, uint32_t slot, uint32_t vector) const {
  std::vector<Name<Vec4<F32>>> quads;
  for (uint32_t half_of_8 = 0; half_of_8 < 2; ++half_of_8) {
    auto from = let("from_dim",
                    (here.lane + vector * c_.lanes_of_position()) * 8u + (slot * c_.heads.head_dim + half_of_8 * 4));
    quads.push_back(load_quad(turned_, from, "d", "d4"));
  }
  return quads;
}

// Processes all of the workgroup's positions. The next ones are loaded meanwhile.
void LayersAttention::see_positions(const Here& here, uint32_t heads, const Name<U32>& layer, const Loaded& newest,
                                    const HeadSums& of_heads) const {
  const uint32_t at_once = c_.positions_at_once(), vectors = c_.vectors_of_lane();
  Queries q;
  for (uint32_t head = 0; head < heads; ++head) {
    q.emplace_back();
    for (uint32_t i = 0; i < vectors; ++i) {
      for (auto& quad : quads_of(here, head, i)) q.back().push_back(quad);
    }
  }
  struct Prefetched {
    Var<U32> at;
    std::vector<Var<Vec4<F16x2>>> k, v;
  };
  Prefetched next{var("next_at", newest.at), {}, {}};
  for (uint32_t i = 0; i < vectors; ++i) {
    next.k.push_back(var("next_k", newest.k[i]));
    next.v.push_back(var("next_v", newest.v[i]));
  }
  const auto found = [&] {
    Loaded loaded{let("key_at", next.at), {}, {}};
    for (uint32_t i = 0; i < vectors; ++i) {
      loaded.k.push_back(let("k8", next.k[i]));
      loaded.v.push_back(let("v8", next.v[i]));
    }
    return loaded;
  };
  const auto ask_for_next = [&](const Name<U32>& from, const Name<U32>& p) {
    when(from + at_once < here.end, [&] {
      auto later_at = key_at(here, let("later", p + at_once));
      const Loaded later = load_position(here.layer_vectors, layer, later_at);
      next.at = later.at;
      for (uint32_t i = 0; i < vectors; ++i) next.k[i] = later.k[i], next.v[i] = later.v[i];
    });
  };
  // Many histories are so short that no invocation has a second position.
  ask_for_next(here.first, here.newest);
  see(here, here.newest, newest, q, of_heads, heads == 1);
  loop("from_pos", here.first + at_once, here.end, at_once, [&](const Name<U32>& from) {
    auto p = let("p", from + here.group);
    const Loaded loaded = found();
    ask_for_next(from, p);
    see(here, p, loaded, q, of_heads, false);
  });
}

// Processes one position for all heads.
void LayersAttention::see(const Here& here, const Name<U32>& p, const Loaded& loaded, const Queries& q,
                          const HeadSums& of_heads, bool is_first) const {
  const auto heads = static_cast<uint32_t>(q.size());
  const uint32_t lanes = c_.lanes_of_position(), vectors = c_.vectors_of_lane();
  auto is_seen = let("is_seen", p < here.end);
  std::vector<Var<Vec4<F32>>> k, v;
  for (uint32_t i = 0; i < vectors; ++i) {
    for (uint32_t part = 0; part < 2; ++part) {
      auto low = let("k_low", unpack2x16float(at(loaded.k[i], 2 * part)));
      auto high = let("k_high", unpack2x16float(at(loaded.k[i], 2 * part + 1)));
      k.push_back(var("k4", vec4f(low, high)));
      auto v_low = let("v_low", unpack2x16float(at(loaded.v[i], 2 * part)));
      auto v_high = let("v_high", unpack2x16float(at(loaded.v[i], 2 * part + 1)));
      v.push_back(var("v4", vec4f(v_low, v_high)));
    }
  }
  when(p == here.pos && is_seen, [&] {  // the token's own key and value, not yet in the cache
    for (uint32_t i = 0; i < vectors; ++i) {
      const auto own_k = quads_of(here, heads, i), own_v = quads_of(here, heads + 1, i);
      const auto pack = [&](const std::vector<Name<Vec4<F32>>>& quads) {
        std::vector<Name<F16x2>> words;
        for (const auto& quad : quads) {
          words.push_back(let("half2", pack2x16float(vec2f(at(quad, 0), at(quad, 1)))));
          words.push_back(let("half2", pack2x16float(vec2f(at(quad, 2), at(quad, 3)))));
        }
        return call<Vec4<F16x2>>("vec4<u32>", words[0], words[1], words[2], words[3]);
      };
      for (uint32_t part = 0; part < 2; ++part) {
        k[2 * i + part] = own_k[part];
        v[2 * i + part] = own_v[part];
      }
      const auto keep = [&] {
        kv_[loaded.at + i * lanes] = pack(own_k);
        kv_[loaded.at + (c_.value_behind() + i * lanes)] = pack(own_v);
      };
      if (heads == c_.group_heads()) {
        keep();
      } else {  // other workgroups have the same key and value, so only one writes them
        when(here.first_head % c_.group_heads() == 0u, keep);
      }
    }
  });
  for (uint32_t head = 0; head < heads; ++head) {
    auto part = var("score", 0.0f);
    for (uint32_t i = 0; i < 2 * vectors; ++i) {
      auto k4 = let("k4", k[i]);
      part += dot(q[head][i], k4);
    }
    auto my_part = let("my_part", part);
    auto score = reduce_lanes(Reduce::kSum, c_.caps, my_part, b_.tid, lanes, c_.workgroup);
    auto seen = let("seen", select(kLowestScore, score, is_seen));
    const auto seen_value = [&](uint32_t i) {  // without this, unseen positions have arbitrary values
      return let("v4", select(splat<Vec4<F32>>(0.0f), v[i], is_seen));
    };
    if (is_first) {
      of_heads.greatest[head] = seen;
      of_heads.total[head] = select(0.0f, 1.0f, is_seen);
      for (uint32_t i = 0; i < 2 * vectors; ++i) of_heads.acc[head * 2 * vectors + i] = seen_value(i);
      continue;
    }
    auto most = let("most", max(of_heads.greatest[head], seen));
    auto shrink = let("shrink", exp(of_heads.greatest[head] - most));
    auto weight = let("weight", select(0.0f, exp(seen - most), is_seen));
    of_heads.total[head] = of_heads.total[head] * shrink + weight;
    for (uint32_t i = 0; i < 2 * vectors; ++i) {
      const auto& sum = of_heads.acc[head * 2 * vectors + i];
      auto v4 = seen_value(i);
      sum = sum * shrink + v4 * weight;
    }
    of_heads.greatest[head] = most;
  }
}

// Stores the sums over a subgroup's positions as one row of workgroup memory: Σ e·v, the largest score, Σ e. `slot`:
// the head's index in workgroup memory.
void LayersAttention::add_up_lanes(const Here& here, uint32_t slot, uint32_t head, const HeadSums& of_heads) const {
  const uint32_t subgroup = c_.caps.subgroup, lanes = c_.lanes_of_position(), vectors = c_.vectors_of_lane();
  auto most = var("most", of_heads.greatest[head]);
  for (uint32_t mask = lanes; mask < subgroup; mask *= 2) {
    auto mine = let("mine", most);
    auto other = subgroupShuffleXor(mine, mask);
    most = max(mine, other);
  }
  auto top_of_subgroup = let("of_subgroup", most);
  auto shrink = let("shrink", exp(of_heads.greatest[head] - top_of_subgroup));
  const auto added = [&](Name<F32> value) {
    for (uint32_t mask = lanes; mask < subgroup; mask *= 2) {
      auto other = subgroupShuffleXor(value, mask);
      value = let("sum", value + other);
    }
    return value;
  };
  auto my_total = let("my_total", of_heads.total[head] * shrink);
  auto all_total = added(my_total);
  auto row = let("sums_row", (b_.tid / subgroup * c_.heads_in_memory() + slot) * c_.sums_stride());
  for (uint32_t i = 0; i < 2 * vectors; ++i) {
    for (uint32_t k = 0; k < 4; ++k) {
      auto mine = let("mine", at(of_heads.acc[head * 2 * vectors + i], k) * shrink);
      auto sum = added(mine);
      when(b_.tid % subgroup < lanes,
           [&] { sums_[row + ((here.lane + (i / 2) * lanes) * 8u + (i % 2 * 4 + k))] = sum; });
    }
  }
  when(b_.tid % subgroup == 0u, [&] {
    sums_[row + c_.heads.head_dim] = top_of_subgroup;
    sums_[row + (c_.heads.head_dim + 1)] = all_total;
  });
}

}  // namespace tern::gpu::layers
