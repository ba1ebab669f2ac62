#include "backend/gpu/kernels/attention/grouped_attention.h"

#include <algorithm>
#include <cmath>

namespace tern::gpu {

using namespace wgsl;

namespace {

// The steps of attention.cc, with one component of T per head. T is Vec2 or Vec4. More than four heads take two of T,
// and some components may be unused.
template <class KvWord, class T>
class GroupedBody {
 public:
  GroupedBody(const AttentionConfig& c, const In<"q", Vec4<F32>>& q, const In<"kv", KvQuad<KvWord>>& kv,
              const ParamsBuffer& params, const WorkgroupId& wg, const NumWorkgroups& n_wg, const LocalIndex& tid)
      : c_(c),
        sizes_(c),
        q_(q),
        kv_(kv),
        params_(params),
        wg_(wg),
        n_wg_(n_wg),
        tid_(tid),
        memory_{.queries = shared<Vec4<F32>>("queries", sizes_.together * sizes_.quads),
                .weights = shared<T>("weights", c.chunk * sizes_.groups * sizes_.parts),
                .places = shared<U32>("places", c.chunk),
                .sums = shared<Vec4<F32>>("sums", c.workgroup)},
        place_(c, sizes_, params, wg),
        mine_{.pos = let("my_pos", tid / c.per_pos),
              .part_of_pos = let("part_of_pos", tid % c.per_pos),
              .quad = let("my_quad", tid % sizes_.quads),
              .line = let("line", tid / sizes_.quads)},
        softmax_{} {
    CHECK(sizes_.together > 1 && c.chunk <= c.workgroup);
    CHECK(c.workgroup * c.rounds == c.chunk * c.per_pos && c.workgroup % sizes_.quads == 0 &&
          sizes_.quads % c.per_pos == 0);
    for (uint32_t part = 0; part < sizes_.parts; ++part) {
      softmax_.greatest.push_back(var("greatest", splat<T>(kLowestScore)));
      softmax_.total.push_back(var<T>("total"));
    }
    for (uint32_t h = 0; h < sizes_.together; ++h) softmax_.acc.push_back(var<Vec4<F32>>("acc"));
  }

  void attend() {
    const float scale = 1.0f / std::sqrt(static_cast<float>(c_.heads.head_dim));
    loop("i", tid_, sizes_.together * sizes_.quads, c_.workgroup,
         [&](const Name<U32>& i) { memory_.queries[i] = q_[place_.row * sizes_.quads + i] * scale; });
    // The queries are read after a barrier: each chunk has one after its places.
    auto start = c_.window > 0 ? max(place_.n_pos, c_.window) - c_.window + wg_.z * c_.chunk : wg_.z * c_.chunk;
    loop("first", std::move(start), place_.n_pos, n_wg_.z * c_.chunk,
         [&](const Name<U32>& first) { take_chunk(first); });
  }

  // Stores the partial sums of a split.
  void store_part(const Out<"y", F32>& y) {
    const Heads sum_of_weights = add_up_weights();
    Heads all_greatest;
    for (const Var<T>& greatest : softmax_.greatest) all_greatest.push_back(let("all_greatest", greatest));
    for_heads([&](uint32_t h, const Name<Vec4<F32>>& sum) {
      auto base = let("base", ((place_.row + h) * c_.max_splits + wg_.z) * c_.partial_stride());
      for (uint32_t i = 0; i < 4; ++i) y[base + mine_.quad * 4u + i] = at(sum, i);
      when(mine_.quad == 0u, [&] {
        y[base + c_.heads.head_dim] = of_head(all_greatest, h);
        y[base + (c_.heads.head_dim + 1)] = of_head(sum_of_weights, h);
      });
    });
  }

  // Stores the result, and each head's statistics as a part of the token's.
  void store(const Out<"y", F32>& y, const NextGain& gain, const NextParts& parts) {
    Heads factors;
    for (const Name<T>& sum : add_up_weights()) factors.push_back(let("factors", splat<T>(1.0f) / sum));
    std::vector<Var<T>> squares, largest;
    for (uint32_t part = 0; part < sizes_.parts; ++part) {
      squares.push_back(var<T>("squares"));
      largest.push_back(var<T>("largest"));
    }
    for_heads([&](uint32_t h, const Name<Vec4<F32>>& sum) {
      auto result = let("result", sum * of_head(factors, h));
      for (uint32_t i = 0; i < 4; ++i) y[((place_.row + h) * sizes_.quads + mine_.quad) * 4u + i] = at(result, i);
      of_head(squares, h) = dot(result, result);
      for (uint32_t i = 0; i < 4; ++i) {
        auto g = let("g", gain[(place_.first_head + h) * c_.heads.head_dim + mine_.quad * 4u + i]);
        of_head(largest, h) = max(of_head(largest, h), abs(at(result, i) * g));
      }
    });
    const Heads all_squares = reduced(Reduce::kSum, "my_squares", squares);
    const Heads all_largest = reduced(Reduce::kMax, "my_largest", largest);
    when(tid_ == 0u, [&] {
      for (uint32_t h = 0; h < sizes_.together; ++h)
        parts[place_.row + h] = vec2f(of_head(all_squares, h), of_head(all_largest, h));
    });
  }

 private:
  using Quad = Name<KvQuad<KvWord>>;
  using Heads = std::vector<Name<T>>;  // a component for each head
  struct Sizes {
    explicit Sizes(const AttentionConfig& c)
        : together(heads_together(c.heads)),
          parts(ceil_div(together, T::kSize)),
          quads(c.heads.head_dim / 4),
          lines(c.workgroup / quads),
          groups(kv_weights_per_position<KvWord>(c.heads.head_dim)) {}
    uint32_t together, parts, quads, lines, groups;  // parts: values of T that have a component for each head
  };
  struct Memory {
    Shared<Vec4<F32>> queries;  // [heads, head_dim / 4]
    Shared<T> weights;          // [chunk, groups, parts]
    Shared<U32> places;         // where the keys are
    Shared<Vec4<F32>> sums;
  };
  // The workgroup's heads and sequence.
  struct Place {
    Place(const AttentionConfig& c, const Sizes& sizes, const ParamsBuffer& params, const WorkgroupId& wg)
        : first_head(let("first_head", wg.x * sizes.together)),
          row(let("row", wg.y * c.heads.n_heads + first_head)),
          kv_head(let("kv_head", first_head / (c.heads.n_heads / c.heads.n_kv_heads))),
          n_pos(let("n_pos", row_word(params, wg.y, kRowPos) + 1u)),
          table(let("table", row_word(params, wg.y, kRowTable))) {}
    Name<U32> first_head, row, kv_head, n_pos, table;
  };
  // The invocation's share: of scores, a part of a position; of values, a quad and the positions of a line.
  struct Mine {
    Name<U32> pos, part_of_pos, quad, line;
  };
  struct Softmax {
    std::vector<Var<T>> greatest, total;
    std::vector<Var<Vec4<F32>>> acc;  // of each head
  };
  // A position whose score this invocation helps compute: its index in the chunk, and its key.
  struct Scored {
    Name<U32> in_chunk, key_at;
    std::vector<Quad> key;
  };

  template <class Parts>
  static auto of_head(const Parts& parts, uint32_t head) {
    return at(parts[head / T::kSize], head % T::kSize);
  }
  // Reduces over the workgroup. `name`: of the variables of an invocation's own values.
  Heads reduced(Reduce how, const char* name, const std::vector<Var<T>>& mine) const {
    Heads all;
    for (const Var<T>& part : mine) {
      auto my_part = let(name, part);
      all.push_back(reduce_workgroup(how, c_.caps, my_part, tid_, c_.workgroup));
    }
    return all;
  }
  Heads add_up_weights() const { return reduced(Reduce::kSum, "my_total", softmax_.total); }

  // Calls body(head, quad of its weighted values) on the invocations of the first line.
  template <class Body>
  void for_heads(const Body& body) {
    for (uint32_t h = 0; h < sizes_.together; ++h) {
      memory_.sums[tid_] = softmax_.acc[h];
      workgroupBarrier();
      when(mine_.line == 0u, [&] {
        auto sum = var("sum", softmax_.acc[h]);
        for (uint32_t i = 1; i < sizes_.lines; ++i) sum += memory_.sums[tid_ + i * sizes_.quads];
        auto whole = let("whole", sum);
        body(h, whole);
      });
      workgroupBarrier();  // before the next head's sums
    }
  }

  void take_chunk(const Name<U32>& first) {
    look_up_places(first);
    // All keys and values are requested before the first is used.
    std::vector<Scored> scored;
    for (uint32_t r = 0; r < c_.rounds; ++r) {
      auto in_chunk = let("in_chunk", mine_.pos + r * (c_.workgroup / c_.per_pos));
      auto key_at = let("key_at", memory_.places[in_chunk]);
      auto k_row = let("k_row", key_at + mine_.part_of_pos);
      Scored& mine = scored.emplace_back(in_chunk, key_at);
      for (uint32_t i = 0; i < sizes_.quads; i += c_.per_pos) mine.key.push_back(let("k4", kv_[k_row + i]));
    }
    std::vector<std::vector<Name<F32>>> value_scales;
    for (const Scored& mine : scored) value_scales.push_back(value_scales_at(mine.key_at));
    std::vector<Name<U32>> lines;
    std::vector<Quad> values;
    for (uint32_t p = 0; p < c_.chunk; p += sizes_.lines) {
      lines.push_back(let("at_p", mine_.line + p));
      auto some_line = is_whole(p) ? lines.back() : let("some_line", min(lines.back(), c_.chunk - 1));
      auto place = let("place", memory_.places[some_line]);
      values.push_back(let("v4", kv_[place + value_behind() + mine_.quad]));
    }
    std::vector<Heads> seen;
    std::vector<Var<T>> mine_top;
    for (uint32_t part = 0; part < sizes_.parts; ++part) mine_top.push_back(var("mine_top", splat<T>(kLowestScore)));
    const auto scores = scores_of(scored);
    for (size_t r = 0; r < scored.size(); ++r) {
      seen.emplace_back();
      auto is_seen = let("is_seen", first + scored[r].in_chunk < place_.n_pos);
      for (uint32_t part = 0; part < sizes_.parts; ++part) {
        auto whole = capped(reduce_lanes(Reduce::kSum, c_.caps, scores[r][part], tid_, c_.per_pos, c_.workgroup));
        seen.back().push_back(let("seen", select(splat<T>(kLowestScore), whole, is_seen)));
        mine_top[part] = max(mine_top[part], seen.back().back());
      }
    }
    const Heads top = reduced(Reduce::kMax, "my_top", mine_top);
    Heads new_greatest, shrink;
    for (uint32_t part = 0; part < sizes_.parts; ++part) {
      new_greatest.push_back(let("new_greatest", max(softmax_.greatest[part], top[part])));
      shrink.push_back(let("shrink", exp(softmax_.greatest[part] - new_greatest.back())));
      softmax_.total[part] = softmax_.total[part] * shrink.back();
    }
    for (size_t r = 0; r < scored.size(); ++r) {
      auto is_seen = let("is_seen", first + scored[r].in_chunk < place_.n_pos);
      Heads weights;
      for (uint32_t part = 0; part < sizes_.parts; ++part)
        weights.push_back(let("weight", select(splat<T>(0.0f), exp(seen[r][part] - new_greatest[part]), is_seen)));
      when(mine_.part_of_pos == 0u, [&] { store_weights(scored[r].in_chunk, weights, value_scales[r]); });
    }
    workgroupBarrier();
    for (uint32_t h = 0; h < sizes_.together; ++h) softmax_.acc[h] = softmax_.acc[h] * of_head(shrink, h);
    for (size_t i = 0; i < values.size(); ++i) {
      if (is_whole(static_cast<uint32_t>(i) * sizes_.lines)) {
        add_value(lines[i], values[i]);
      } else {
        when(lines[i] < c_.chunk, [&] { add_value(lines[i], values[i]); });
      }
    }
    for (uint32_t part = 0; part < sizes_.parts; ++part) softmax_.greatest[part] = new_greatest[part];
    workgroupBarrier();  // before the next chunk's places and weights
  }

  // The weights of a position, times the scales of its values where these are codes; and adds them to the totals.
  void store_weights(const Name<U32>& in_chunk, const Heads& weights, const std::vector<Name<F32>>& scales) const {
    for (uint32_t part = 0; part < sizes_.parts; ++part) {
      for (uint32_t g = 0; g < sizes_.groups; ++g) {
        auto to = (in_chunk * sizes_.groups + g) * sizes_.parts + part;
        if constexpr (kHasKvScales<KvWord>) {
          memory_.weights[std::move(to)] = weights[part] * scales[g];
        } else {
          memory_.weights[std::move(to)] = weights[part];
        }
      }
      softmax_.total[part] += weights[part];
    }
  }

  bool is_whole(uint32_t first_line) const { return first_line + sizes_.lines <= c_.chunk; }

  // Positions past the end are replaced by the last one and get weight 0, so that no load waits for a branch.
  void look_up_places(const Name<U32>& first) {
    const auto look_up = [&] {
      auto pos = let("pos", min(first + tid_, place_.n_pos - 1u));
      auto block = kv_block(params_, place_.table, pos);
      memory_.places[tid_] = kv_place(c_.heads, block, place_.kv_head, pos) * kv_row_quads<KvWord>(c_.heads.head_dim);
    };
    if (c_.chunk == c_.workgroup) {
      look_up();
    } else {
      when(tid_ < c_.chunk, look_up);
    }
    workgroupBarrier();
  }

  // This invocation's share of the dot products of all heads with each position's key.
  std::vector<Heads> scores_of(const std::vector<Scored>& scored) {
    const uint32_t n = sizes_.quads / c_.per_pos;
    using Sums = std::vector<std::vector<Var<T>>>;  // [scored, parts]
    const auto zeros = [&](const char* name) {
      Sums sums(scored.size());
      for (auto& of_position : sums) {
        for (uint32_t part = 0; part < sizes_.parts; ++part) of_position.push_back(var<T>(name));
      }
      return sums;
    };
    const Sums scores = zeros("scores");
    const auto add = [&](const Sums& sums, uint32_t i) {
      std::vector<Name<Vec4<F32>>> q;
      for (uint32_t h = 0; h < sizes_.together; ++h) {
        q.push_back(let("q4", memory_.queries[mine_.part_of_pos + (h * sizes_.quads + i * c_.per_pos)]));
      }
      for (size_t r = 0; r < scored.size(); ++r) {
        auto key = let("key", kv_values<KvWord>(scored[r].key[i]));
        for (uint32_t h = 0; h < sizes_.together; ++h) of_head(sums[r], h) += dot(q[h], key);
      }
    };
    if constexpr (kHasKvScales<KvWord>) {
      const uint32_t of_group = kScaleGroup / 4 / c_.per_pos;
      CHECK(of_group > 0);
      for (uint32_t first = 0; first < n; first += of_group) {
        const Sums sums = zeros("of_group");
        for (uint32_t i = first; i < std::min(first + of_group, n); ++i) add(sums, i);
        for (size_t r = 0; r < scored.size(); ++r) {
          const KvScales scales(kv_, scored[r].key_at, c_.heads.head_dim);
          for (uint32_t part = 0; part < sizes_.parts; ++part)
            scores[r][part] += sums[r][part] * scales.of(first / of_group);
        }
      }
    } else {
      for (uint32_t i = 0; i < n; ++i) add(scores, i);
    }
    std::vector<Heads> all(scored.size());
    for (size_t r = 0; r < scored.size(); ++r) {
      for (const Var<T>& part : scores[r]) all[r].push_back(let("my_scores", part));
    }
    return all;
  }

  std::vector<Name<F32>> value_scales_at(const Name<U32>& key_at) const {
    std::vector<Name<F32>> of_groups;
    if constexpr (kHasKvScales<KvWord>) {
      auto value_at = let("value_at", key_at + value_behind());
      const KvScales scales(kv_, value_at, c_.heads.head_dim);
      for (uint32_t g = 0; g < sizes_.groups; ++g) of_groups.push_back(scales.of(g));
    }
    return of_groups;
  }

  Name<T> capped(const Name<T>& scores) const {
    if (c_.softcap == 0) return scores;
    auto all = var("capped_scores", scores);
    for (uint32_t h = 0; h < std::min(sizes_.together, T::kSize); ++h)
      at(all, h) = softcapped(at(scores, h), c_.softcap);
    return let("all_capped", all);
  }

  void add_value(const Name<U32>& at_p, const Quad& v4) {
    Heads w;
    for (uint32_t part = 0; part < sizes_.parts; ++part) {
      auto of_position =
          kHasKvScales<KvWord> ? let("w_at", at_p * sizes_.groups + mine_.quad / (kScaleGroup / 4)) : at_p;
      w.push_back(let("w", memory_.weights[of_position * sizes_.parts + part]));
    }
    auto value = let("value", kv_values<KvWord>(v4));
    for (uint32_t h = 0; h < sizes_.together; ++h) softmax_.acc[h] += value * of_head(w, h);
  }

  uint32_t value_behind() const {
    return c_.heads.n_kv_heads * kBlockPositions * kv_row_quads<KvWord>(c_.heads.head_dim);
  }

  const AttentionConfig& c_;
  Sizes sizes_;
  const In<"q", Vec4<F32>>& q_;
  const In<"kv", KvQuad<KvWord>>& kv_;
  const ParamsBuffer& params_;
  const WorkgroupId& wg_;
  const NumWorkgroups& n_wg_;
  const LocalIndex& tid_;
  Memory memory_;
  Place place_;
  Mine mine_;
  Softmax softmax_;
};

// Calls run(body) for the type T that has a component for each head.
template <class KvWord, class Run>
void with_grouped_body(const AttentionConfig& c, const In<"q", Vec4<F32>>& q, const In<"kv", KvQuad<KvWord>>& kv,
                       const ParamsBuffer& params, const WorkgroupId& wg, const NumWorkgroups& n_wg,
                       const LocalIndex& tid, const Run& run) {
  if (heads_together(c.heads) == 2) {
    run(GroupedBody<KvWord, Vec2<F32>>(c, q, kv, params, wg, n_wg, tid));
  } else {
    run(GroupedBody<KvWord, Vec4<F32>>(c, q, kv, params, wg, n_wg, tid));
  }
}

}  // namespace

template <class KvWord>
AttentionKernel<KvWord> grouped_attention(const AttentionConfig& c) {
  return kernel(c.max_splits > 0 ? "attention_split_of_groups" : "attention_of_groups", c.workgroup,
                [&](In<"q", Vec4<F32>> q, In<"kv", KvQuad<KvWord>> kv, ParamsBuffer params, Out<"y", F32> y,
                    NextGain next_gain, NextParts next_parts, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  with_grouped_body<KvWord>(c, q, kv, params, wg, n_wg, tid, [&](auto body) {
                    body.attend();
                    if (c.max_splits > 0) return body.store_part(y);
                    body.store(y, next_gain, next_parts);
                  });
                });
}

template AttentionKernel<F32> grouped_attention<F32>(const AttentionConfig&);
template AttentionKernel<F16x2> grouped_attention<F16x2>(const AttentionConfig&);
template AttentionKernel<I8x4> grouped_attention<I8x4>(const AttentionConfig&);

}  // namespace tern::gpu
