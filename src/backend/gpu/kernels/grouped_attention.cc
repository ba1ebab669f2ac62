#include "backend/gpu/kernels/grouped_attention.h"

#include <algorithm>
#include <cmath>

namespace tern::gpu {

using namespace wgsl;

uint32_t heads_together(const HeadShape& heads) {
  const uint32_t group = heads.n_heads / heads.n_kv_heads;
  for (const uint32_t n : {4u, 3u, 2u}) {
    if (group % n == 0) return n;
  }
  return 1;
}

// Queries, sums, weights and places, and three reductions.
template <class KvWord>
bool has_grouped_attention(const AttentionConfig& c, uint32_t workgroup_bytes) {
  const bool shuffles = c.caps.subgroup > 0 && c.workgroup % c.caps.subgroup == 0;
  const uint32_t together = heads_together(c.heads), of_heads = together > 2 ? 4 : 2;
  const uint32_t weights = kv_weights_per_position<KvWord>(c.heads.head_dim);
  const uint32_t values = together * c.heads.head_dim + (4 + (shuffles ? 1 : 3 * of_heads)) * c.workgroup +
                          (1 + of_heads * weights) * c.chunk;
  return together > 1 && values * sizeof(float) <= workgroup_bytes;
}

namespace {

// The steps of attention.cc, with a component of a T for each head: Vec2, or Vec4, of which the last may be idle.
template <class KvWord, class T>
class GroupedBody {
 public:
  GroupedBody(const AttentionConfig& c, const In<"q", Vec4<F32>>& q, const In<"kv", KvQuad<KvWord>>& kv,
              const ParamsBuffer& params, const WorkgroupId& wg, const NumWorkgroups& n_wg, const LocalIndex& tid)
      : c_(c),
        together_(heads_together(c.heads)),
        quads_(c.heads.head_dim / 4),
        lines_(c.workgroup / quads_),
        groups_(kv_weights_per_position<KvWord>(c.heads.head_dim)),
        q_(q),
        kv_(kv),
        params_(params),
        wg_(wg),
        n_wg_(n_wg),
        tid_(tid),
        queries_(shared<Vec4<F32>>("queries", together_ * quads_)),
        weights_(shared<T>("weights", c.chunk * groups_)),
        places_(shared<U32>("places", c.chunk)),
        sums_(shared<Vec4<F32>>("sums", c.workgroup)),
        first_head_(let("first_head", wg.x * together_)),
        row_(let("row", wg.y * c.heads.n_heads + first_head_)),
        kv_head_(let("kv_head", first_head_ / (c.heads.n_heads / c.heads.n_kv_heads))),
        n_pos_(let("n_pos", row_word(params, wg.y, kRowPos) + 1u)),
        table_(let("table", row_word(params, wg.y, kRowTable))),
        my_pos_(let("my_pos", tid / c.per_pos)),
        part_of_pos_(let("part_of_pos", tid % c.per_pos)),
        my_quad_(let("my_quad", tid % quads_)),
        line_(let("line", tid / quads_)),
        greatest_(var("greatest", splat<T>(kLowestScore))),
        total_(var<T>("total")) {
    CHECK(c.max_splits > 0 && together_ > 1 && together_ <= T::kSize);
    CHECK(c.workgroup == c.chunk * c.per_pos && c.workgroup % quads_ == 0 && quads_ % c.per_pos == 0);
    for (uint32_t h = 0; h < together_; ++h) acc_.push_back(var<Vec4<F32>>("acc"));
  }

  void attend() {
    const float scale = 1.0f / std::sqrt(static_cast<float>(c_.heads.head_dim));
    loop("i", tid_, together_ * quads_, c_.workgroup,
         [&](const Name<U32>& i) { queries_[i] = q_[row_ * quads_ + i] * scale; });
    workgroupBarrier();
    auto start = c_.window > 0 ? max(n_pos_, c_.window) - c_.window + wg_.z * c_.chunk : wg_.z * c_.chunk;
    loop("first", std::move(start), n_pos_, n_wg_.z * c_.chunk, [&](const Name<U32>& first) { take_chunk(first); });
  }

  void store(const Out<"y", F32>& y) {
    auto my_total = let("my_total", total_);
    auto sum_of_weights = reduce_workgroup(Reduce::kSum, c_.caps, my_total, tid_, c_.workgroup);
    auto all_greatest = let("all_greatest", greatest_);
    for (uint32_t h = 0; h < together_; ++h) {
      sums_[tid_] = acc_[h];
      workgroupBarrier();
      when(line_ == 0u, [&] {
        auto sum = var("sum", acc_[h]);
        for (uint32_t i = 1; i < lines_; ++i) sum += sums_[tid_ + i * quads_];
        auto base = let("base", ((row_ + h) * c_.max_splits + wg_.z) * c_.partial_stride());
        for (uint32_t i = 0; i < 4; ++i) y[base + my_quad_ * 4u + i] = at(sum, i);
        when(my_quad_ == 0u, [&] {
          y[base + c_.heads.head_dim] = at(all_greatest, h);
          y[base + (c_.heads.head_dim + 1)] = at(sum_of_weights, h);
        });
      });
      workgroupBarrier();  // before the next head's sums
    }
  }

 private:
  void take_chunk(const Name<U32>& first) {
    auto pos = let("pos", first + my_pos_);
    auto seen_pos = let("seen_pos", min(pos, n_pos_ - 1u));
    auto block = kv_block(params_, table_, seen_pos);
    auto key_at =
        let("key_at", kv_place(c_.heads, block, kv_head_, seen_pos) * kv_row_quads<KvWord>(c_.heads.head_dim));
    auto mine = scores_at(key_at);
    const std::vector<Name<F32>> value_scales = value_scales_at(key_at);
    auto whole = capped(reduce_lanes(Reduce::kSum, c_.caps, mine, tid_, c_.per_pos, c_.workgroup));
    auto is_seen = let("is_seen", pos < n_pos_);
    auto seen = let("seen", select(splat<T>(kLowestScore), whole, is_seen));
    auto top = reduce_workgroup(Reduce::kMax, c_.caps, seen, tid_, c_.workgroup);
    auto new_greatest = let("new_greatest", max(greatest_, top));
    auto shrink = let("shrink", exp(greatest_ - new_greatest));
    auto weight = let("weight", select(splat<T>(0.0f), exp(seen - new_greatest), is_seen));
    total_ = total_ * shrink;
    when(part_of_pos_ == 0u, [&] {
      for (uint32_t g = 0; g < groups_; ++g) {
        if constexpr (kHasKvScales<KvWord>) {
          weights_[my_pos_ * groups_ + g] = weight * value_scales[g];
        } else {
          weights_[my_pos_] = weight;
        }
      }
      places_[my_pos_] = key_at;
      total_ += weight;
    });
    workgroupBarrier();
    for (uint32_t h = 0; h < together_; ++h) acc_[h] = acc_[h] * at(shrink, h);
    for (uint32_t p = 0; p < c_.chunk; p += lines_) {
      auto at_p = let("at_p", line_ + p);
      if (p + lines_ <= c_.chunk) {
        add_value(at_p);
      } else {
        when(at_p < c_.chunk, [&] { add_value(at_p); });
      }
    }
    greatest_ = new_greatest;
    workgroupBarrier();  // before the next chunk's weights
  }

  // This invocation's share of the products of all heads with a key; all of it is loaded before the first is needed.
  Name<T> scores_at(const Name<U32>& key_at) {
    auto k_row = let("k_row", key_at + part_of_pos_);
    std::vector<Name<KvQuad<KvWord>>> keys;
    for (uint32_t i = 0; i < quads_; i += c_.per_pos) keys.push_back(let("k4", kv_[k_row + i]));
    auto scores = var<T>("scores");
    const auto add = [&](const Var<T>& to, uint32_t i) {
      auto key = let("key", kv_values<KvWord>(keys[i]));
      for (uint32_t h = 0; h < together_; ++h) {
        auto q4 = let("q4", queries_[part_of_pos_ + (h * quads_ + i * c_.per_pos)]);
        at(to, h) += dot(q4, key);
      }
    };
    if constexpr (kHasKvScales<KvWord>) {
      const KvScales scales(kv_, key_at, c_.heads.head_dim);
      const uint32_t of_group = kScaleGroup / 4 / c_.per_pos;
      CHECK(of_group > 0);
      for (uint32_t i = 0; i < keys.size(); i += of_group) {
        auto sum = var<T>("of_group");
        for (uint32_t j = i; j < std::min<size_t>(i + of_group, keys.size()); ++j) add(sum, j);
        scores += sum * scales.of(i / of_group);
      }
    } else {
      for (uint32_t i = 0; i < keys.size(); ++i) add(scores, i);
    }
    return let("my_scores", scores);
  }

  std::vector<Name<F32>> value_scales_at(const Name<U32>& key_at) const {
    std::vector<Name<F32>> of_groups;
    if constexpr (kHasKvScales<KvWord>) {
      auto value_at = let("value_at", key_at + value_behind());
      const KvScales scales(kv_, value_at, c_.heads.head_dim);
      for (uint32_t g = 0; g < groups_; ++g) of_groups.push_back(scales.of(g));
    }
    return of_groups;
  }

  Name<T> capped(const Name<T>& scores) const {
    if (c_.softcap == 0) return scores;
    auto all = var("capped_scores", scores);
    for (uint32_t h = 0; h < together_; ++h) at(all, h) = softcapped(at(scores, h), c_.softcap);
    return let("all_capped", all);
  }

  void add_value(const Name<U32>& at_p) {
    auto w = kHasKvScales<KvWord> ? let("w", weights_[at_p * groups_ + my_quad_ / (kScaleGroup / 4)])
                                  : let("w", weights_[at_p]);
    auto place = let("place", places_[at_p]);
    auto v4 = let("v4", kv_[place + value_behind() + my_quad_]);
    auto value = let("value", kv_values<KvWord>(v4));
    for (uint32_t h = 0; h < together_; ++h) acc_[h] += value * at(w, h);
  }

  uint32_t value_behind() const {
    return c_.heads.n_kv_heads * kBlockPositions * kv_row_quads<KvWord>(c_.heads.head_dim);
  }

  const AttentionConfig& c_;
  uint32_t together_, quads_, lines_, groups_;
  const In<"q", Vec4<F32>>& q_;
  const In<"kv", KvQuad<KvWord>>& kv_;
  const ParamsBuffer& params_;
  const WorkgroupId& wg_;
  const NumWorkgroups& n_wg_;
  const LocalIndex& tid_;
  Shared<Vec4<F32>> queries_;  // [heads, head_dim / 4]
  Shared<T> weights_;          // [chunk, groups]
  Shared<U32> places_;         // of the keys
  Shared<Vec4<F32>> sums_;
  Name<U32> first_head_, row_, kv_head_, n_pos_, table_, my_pos_, part_of_pos_, my_quad_, line_;
  Var<T> greatest_, total_;
  std::vector<Var<Vec4<F32>>> acc_;  // of each head
};

}  // namespace

template <class KvWord>
GroupedAttentionKernel<KvWord> grouped_attention(const AttentionConfig& c) {
  return kernel("attention_split_of_groups", c.workgroup,
                [&](In<"q", Vec4<F32>> q, In<"kv", KvQuad<KvWord>> kv, ParamsBuffer params, Out<"y", F32> y,
                    WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const auto run = [&](auto body) {
                    body.attend();
                    body.store(y);
                  };
                  if (heads_together(c.heads) == 2) {
                    run(GroupedBody<KvWord, Vec2<F32>>(c, q, kv, params, wg, n_wg, tid));
                  } else {
                    run(GroupedBody<KvWord, Vec4<F32>>(c, q, kv, params, wg, n_wg, tid));
                  }
                });
}

template GroupedAttentionKernel<F32> grouped_attention<F32>(const AttentionConfig&);
template GroupedAttentionKernel<F16x2> grouped_attention<F16x2>(const AttentionConfig&);
template GroupedAttentionKernel<I8x4> grouped_attention<I8x4>(const AttentionConfig&);
template bool has_grouped_attention<F32>(const AttentionConfig&, uint32_t);
template bool has_grouped_attention<F16x2>(const AttentionConfig&, uint32_t);
template bool has_grouped_attention<I8x4>(const AttentionConfig&, uint32_t);

}  // namespace tern::gpu
