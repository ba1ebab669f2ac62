#include "backend/gpu/kernels/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backend/gpu/kernels/attention/leave_stats.h"

namespace tern::gpu {

using namespace wgsl;

AttentionConfig fit(AttentionConfig c) {
  const uint32_t quads = c.heads.head_dim / 4;
  CHECK(c.heads.head_dim % 4 == 0 && quads > 0 && quads <= c.workgroup);
  while (quads % c.per_pos != 0) c.per_pos /= 2;
  // Whole subgroups where possible: otherwise reductions are slow (heads of 96 dimensions have 24 quads).
  const uint32_t unit = std::lcm(quads, std::max(c.caps.subgroup, 1u));
  c.workgroup = unit <= c.workgroup ? c.workgroup / unit * unit : c.workgroup / quads * quads;
  c.rounds = std::min(c.rounds, c.per_pos);
  c.chunk = c.workgroup / c.per_pos * c.rounds;
  return c;
}

namespace {

struct Builtins {
  WorkgroupId wg;
  NumWorkgroups n_wg;
  LocalIndex tid;
};

// The work of one invocation. Bases and offsets are in quads.
struct Places {
  Places(const AttentionConfig& c, const ParamsBuffer& batch, const Builtins& b)
      : shape(c.heads),
        params(batch),
        head(let("head", b.wg.x)),
        token(let("token", b.wg.y)),
        kv_head(let("kv_head", head / (c.heads.n_heads / c.heads.n_kv_heads))),
        n_pos(let("n_pos", row_word(params, token, kRowPos) + 1u)),
        table(let("table", row_word(params, token, kRowTable))),
        q_base(let("q_base", (token * c.heads.n_heads + head) * (c.heads.head_dim / 4))),
        my_pos(let("my_pos", b.tid / c.per_pos)),
        part_of_pos(let("part_of_pos", b.tid % c.per_pos)),
        my_quad(let("my_quad", b.tid % (c.heads.head_dim / 4))),
        line(let("line", b.tid / (c.heads.head_dim / 4))) {}

  // key_at: the index of a position's key, in quads of the cache. value_behind: the distance from a key to its value.
  template <class KvWord>
  Name<U32> key_at(const Name<U32>& pos) const {
    auto block = kv_block(params, table, pos);
    return let("key_at", kv_place(shape, block, kv_head, pos) * kv_row_quads<KvWord>(shape.head_dim));
  }
  template <class KvWord>
  uint32_t value_behind() const {
    return shape.n_kv_heads * kBlockPositions * kv_row_quads<KvWord>(shape.head_dim);
  }

  HeadShape shape;
  ParamsBuffer params;
  Name<U32> head, token, kv_head, n_pos, table, q_base, my_pos, part_of_pos, my_quad, line;
};

// Query, key and value of the newest position, if the workgroup computes them itself.
struct OwnHeads {
  Shared<Vec4<F32>> quads;  // [3, head_dim / 4]; codes for keys and values with scales
  Shared<F32> scales;       // [2, kv_scale_groups(head_dim)], if there are scales
  Name<U32> pos;
  Name<U32> readable;  // the last position that no workgroup of this dispatch writes
};

// Online softmax, one chunk of positions at a time:
//   scores    `per_pos` invocations share a position; each takes every per_pos-th quad
//   weights   m' = max(m, chunk); earlier sums are scaled by e^(m − m')
//   values    an invocation has one quad of dimensions and every `lines`-th position of the chunk
// The invocation that scores a position also looks up its block and stores the key's place for the invocations that add
// up values. It also multiplies the weight by the scales of the position's value, so codes need no further scaling.
// Positions past the end are computed as the last one and get weight 0, so that no load waits for a branch.
template <class KvWord, class Kv>
class AttentionBody {
 public:
  // query(i): quad part_of_pos + i of the query. own: null if the cache holds all positions.
  template <class Query>
  AttentionBody(const AttentionConfig& c, const Kv& kv, const Places& here, Query&& query, const OwnHeads* own)
      : c_(c),
        quads_(c.heads.head_dim / 4),
        lines_(c.workgroup / quads_),
        kv_(kv),
        here_(here),
        own_(own),
        n_weights_(kv_weights_per_position<KvWord>(c.heads.head_dim)),
        weights_(shared<F32>("weights", c.chunk * n_weights_)),
        places_(shared<U32>("places", c.chunk)),
        sums_(shared<Vec4<F32>>("sums", c.workgroup)),
        my_q_(share_of(c, query)),
        softmax_{var("greatest", kLowestScore), var("total", 0.0f), var<Vec4<F32>>("acc")} {
    CHECK(c.heads.head_dim % 4 == 0 && c.workgroup == c.chunk * c.per_pos && c.workgroup % quads_ == 0);
    CHECK(quads_ % c.per_pos == 0);
    if (own) own_value_ = let("own_value", own->quads[2 * quads_ + here.my_quad]);
  }

  void attend(const Builtins& b) {
    const LocalIndex& tid = b.tid;
    auto start = c_.window > 0 ? max(here_.n_pos, c_.window) - c_.window + b.wg.z * c_.chunk : b.wg.z * c_.chunk;
    loop("first", std::move(start), here_.n_pos, b.n_wg.z * c_.chunk, [&](const Name<U32>& first) {
      auto pos = let("pos", first + here_.my_pos);
      auto last = own_ ? own_->readable : let("last", here_.n_pos - 1u);
      auto seen_pos = let("seen_pos", min(pos, last));
      auto key_at = here_.template key_at<KvWord>(seen_pos);
      auto my_score = score_at(pos, key_at);
      const std::vector<Name<F32>> value_scales = value_scales_at(pos, key_at);
      auto whole = reduce_lanes(Reduce::kSum, c_.caps, my_score, tid, c_.per_pos, c_.workgroup);
      auto seen = let("seen", select(kLowestScore, softcapped(whole, c_.softcap), pos < here_.n_pos));
      auto top = reduce_workgroup(Reduce::kMax, c_.caps, seen, tid, c_.workgroup);
      auto new_greatest = let("new_greatest", max(softmax_.greatest, top));
      auto shrink = let("shrink", exp(softmax_.greatest - new_greatest));
      auto weight = let("weight", select(0.0f, exp(seen - new_greatest), pos < here_.n_pos));
      softmax_.total = softmax_.total * shrink;
      when(here_.part_of_pos == 0u, [&] {
        if constexpr (kHasKvScales<KvWord>) {
          for (uint32_t g = 0; g < n_weights_; ++g) {
            weights_[here_.my_pos * n_weights_ + g] = weight * value_scales[g];
          }
        } else {
          weights_[here_.my_pos] = weight;
        }
        places_[here_.my_pos] = key_at;
        softmax_.total += weight;
      });
      workgroupBarrier();
      softmax_.acc = softmax_.acc * shrink;
      for (uint32_t p = 0; p < c_.chunk; p += lines_) {
        auto at_p = let("at_p", here_.line + p);
        if (p + lines_ <= c_.chunk) {
          add_value(first, at_p);
        } else {
          when(at_p < c_.chunk, [&] { add_value(first, at_p); });
        }
      }
      softmax_.greatest = new_greatest;
      workgroupBarrier();  // before the next chunk's weights
    });
    auto my_total = let("my_total", softmax_.total);
    sum_of_weights_ = reduce_workgroup(Reduce::kSum, c_.caps, my_total, tid, c_.workgroup);
    sums_[tid] = softmax_.acc;
    workgroupBarrier();
  }

  // Stores the result, or the partial sums of a split. Unsplit, also(result) gets this invocation's quad of the result.
  template <class Also>
  void store(const Out<"y", F32>& y, const Builtins& b, Also&& also) {
    when(here_.line == 0u, [&] {
      auto sum = var("sum", softmax_.acc);
      for (uint32_t i = 1; i < lines_; ++i) sum += sums_[b.tid + i * quads_];
      if (c_.max_splits > 0) {
        auto row =
            let("base", ((here_.token * c_.heads.n_heads + here_.head) * c_.max_splits + b.wg.z) * c_.partial_stride());
        for (uint32_t i = 0; i < 4; ++i) y[row + here_.my_quad * 4u + i] = at(sum, i);
        when(here_.my_quad == 0u, [&] {
          y[row + c_.heads.head_dim] = softmax_.greatest;
          y[row + (c_.heads.head_dim + 1)] = sum_of_weights_;
        });
        return;
      }
      auto result = let("result", sum * (1.0f / sum_of_weights_));
      for (uint32_t i = 0; i < 4; ++i) y[(here_.q_base + here_.my_quad) * 4u + i] = at(result, i);
      also(result);
    });
  }

 private:
  struct Softmax {
    Var<F32> greatest, total;  // total: Σ weights over this invocation's positions
    Var<Vec4<F32>> acc;
  };
  // This invocation's share of the query stays in registers.
  template <class Query>
  static std::vector<Name<Vec4<F32>>> share_of(const AttentionConfig& c, Query&& query) {
    const float scale = 1.0f / std::sqrt(static_cast<float>(c.heads.head_dim));
    std::vector<Name<Vec4<F32>>> share;
    for (uint32_t i = 0; i < c.heads.head_dim / 4; i += c.per_pos) share.push_back(let("q4", query(i) * scale));
    return share;
  }

  // Multiplies the sum over each group of codes by the group's scale.
  template <class Quad, class Scale>
  void add_scaled(const Quad& quad, const Scale& scale, const Var<F32>& score) const {
    constexpr uint32_t kGroupQuads = kScaleGroup / 4;
    CHECK(kGroupQuads % c_.per_pos == 0);
    const uint32_t of_group = kGroupQuads / c_.per_pos;  // quads per invocation
    for (uint32_t first = 0; first < my_q_.size(); first += of_group) {
      auto sum = var("of_group", 0.0f);
      for (uint32_t i = first; i < std::min<size_t>(first + of_group, my_q_.size()); ++i) sum += quad(i);
      score += sum * scale(first / of_group);
    }
  }

  Name<F32> score_at(const Name<U32>& pos, const Name<U32>& key_at) {
    const auto cached = [&](const Name<U32>& k_row, const Var<F32>& score) {
      if constexpr (kHasKvScales<KvWord>) {
        const KvScales scales(kv_, key_at, c_.heads.head_dim);
        const auto quad = [&](uint32_t i) {
          auto k4 = let("k4", kv_[k_row + i * c_.per_pos]);
          return dot(my_q_[i], kv_values<KvWord>(k4));
        };
        add_scaled(quad, [&](uint32_t group) { return scales.of(group); }, score);
      } else {
        for (uint32_t i = 0; i < my_q_.size(); ++i) {
          auto k4 = let("k4", kv_[k_row + i * c_.per_pos]);
          score += dot(my_q_[i], kv_values<KvWord>(k4));
        }
      }
    };
    if (!own_) {
      auto k_row = let("k_row", key_at + here_.part_of_pos);
      auto score = var("score", 0.0f);
      cached(k_row, score);
      return let("my_score", score);
    }
    auto score = var("score", 0.0f);
    when(
        pos < own_->pos,
        [&] {
          auto k_row = let("k_row", key_at + here_.part_of_pos);
          cached(k_row, score);
        },
        [&] {
          const auto quad = [&](uint32_t i) {
            auto k4 = let("k4", own_->quads[quads_ + here_.part_of_pos + i * c_.per_pos]);
            return dot(my_q_[i], k4);
          };
          if constexpr (kHasKvScales<KvWord>) {
            add_scaled(quad, [&](uint32_t group) { return e(own_->scales[group]); }, score);
          } else {
            for (uint32_t i = 0; i < my_q_.size(); ++i) score += quad(i);
          }
        });
    return let("my_score", score);
  }

  // The scales of the value at this invocation's position; empty if values have no scales.
  std::vector<Name<F32>> value_scales_at(const Name<U32>& pos, const Name<U32>& key_at) const {
    std::vector<Name<F32>> of_groups;
    if constexpr (kHasKvScales<KvWord>) {
      auto value_at = let("value_at", key_at + here_.template value_behind<KvWord>());
      const KvScales cached(kv_, value_at, c_.heads.head_dim);
      for (uint32_t g = 0; g < n_weights_; ++g) {
        of_groups.push_back(
            own_ ? let("value_scale", select(cached.of(g), own_->scales[n_weights_ + g], pos >= own_->pos))
                 : cached.of(g));
      }
    }
    return of_groups;
  }

  void add_value(const Name<U32>& first, const Name<U32>& at_p) {
    auto w = kHasKvScales<KvWord> ? let("w", weights_[at_p * n_weights_ + here_.my_quad / (kScaleGroup / 4)])
                                  : let("w", weights_[at_p]);
    auto place = let("place", places_[at_p]);
    auto v4 = let("v4", kv_[place + here_.template value_behind<KvWord>() + here_.my_quad]);
    if (own_) {
      softmax_.acc += select(kv_values<KvWord>(v4), own_value_, first + at_p >= own_->pos) * w;
    } else {
      softmax_.acc += kv_values<KvWord>(v4) * w;
    }
  }

  const AttentionConfig& c_;
  uint32_t quads_, lines_;  // quads of a head; invocations per quad, each with its own positions
  const Kv& kv_;
  const Places& here_;
  const OwnHeads* own_;
  uint32_t n_weights_;  // per position
  Shared<F32> weights_;
  Shared<U32> places_;  // where the keys are
  Shared<Vec4<F32>> sums_;
  std::vector<Name<Vec4<F32>>> my_q_;
  Softmax softmax_;
  Name<Vec4<F32>> own_value_;
  Name<F32> sum_of_weights_;
};

}  // namespace

template <class KvWord>
AttentionKernel<KvWord> attention(const AttentionConfig& c) {
  return kernel(c.max_splits > 0 ? "attention_split" : "attention", c.workgroup,
                [&](In<"q", Vec4<F32>> q, In<"kv", KvQuad<KvWord>> kv, ParamsBuffer params, Out<"y", F32> y,
                    NextGain next_gain, NextParts next_parts, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
                  const Builtins builtins{wg, n_wg, tid};
                  const Places here(c, params, builtins);
                  const auto query = [&](uint32_t i) { return q[here.q_base + here.part_of_pos + i]; };
                  AttentionBody<KvWord, decltype(kv)> body(c, kv, here, query, nullptr);
                  body.attend(builtins);
                  if (c.max_splits > 0) return body.store(y, builtins, [](const auto&) {});
                  auto squares = var("squares", 0.0f);
                  auto largest = var("largest", 0.0f);
                  body.store(y, builtins, [&](const Name<Vec4<F32>>& result) {
                    squares = dot(result, result);
                    for (uint32_t i = 0; i < 4; ++i) {
                      auto gain = let("gain", next_gain[here.head * c.heads.head_dim + here.my_quad * 4u + i]);
                      largest = max(largest, abs(at(result, i) * gain));
                    }
                  });
                  leave_stats(c.caps, squares, largest, tid, c.workgroup, next_parts,
                              here.token * c.heads.n_heads + here.head);
                });
}

namespace {

constexpr uint32_t kOwnHeads = 3;  // a query, a key, a value

// Each team makes one of the heads. Then the invocations take the heads quad by quad, rounded as the cache rounds. The
// first workgroup of those that share a key writes it to the cache.
template <class KvWord>
OwnHeads make_own_heads(const AttentionConfig& c, const HeadsConfig& h, const HeadInputs& in,
                        const InOut<"kv", KvQuad<KvWord>>& kv, const Places& here, const Builtins& b) {
  const HeadShape& s = c.heads;
  const uint32_t quads = s.head_dim / 4, groups = kv_scale_groups(s.head_dim);
  const HeadTeams heads(h, kOwnHeads, b.tid, c.workgroup);
  const OwnHeads own{shared<Vec4<F32>>("own", kOwnHeads * quads),
                     kHasKvScales<KvWord> ? shared<F32>("own_scales", 2 * groups) : Shared<F32>{},
                     let("own_pos", here.n_pos - 1u), let("readable", select(here.n_pos - 2u, 1u, here.n_pos == 1u))};
  auto key_row = let("key_row", here.kv_head + s.n_heads);
  auto row =
      let("row", select(select(key_row + s.n_kv_heads, key_row, heads.team() == 1u), here.head, heads.team() == 0u));
  auto is_used = let("is_used", heads.team() < kOwnHeads);
  auto turns = let("turns", row_word(here.params, here.token, kRowAngles) + own.pos);
  heads.take(in, here.token, row, turns, is_used);
  auto writes = let("writes", here.head % (s.n_heads / s.n_kv_heads) == 0u && b.wg.z == 0u);
  loop("i", b.tid, kOwnHeads * quads, c.workgroup, [&](const Name<U32>& i) {
    auto which = let("which", i / quads);
    auto quad = let("quad", i % quads);
    const HeadValues values = heads.values(which);
    auto v = let("v", vec4f(values[quad * 4u], values[quad * 4u + 1u], values[quad * 4u + 2u], values[quad * 4u + 3u]));
    when(
        which == 0u, [&] { own.quads[i] = v; },
        [&] {
          const auto write = [&](const auto& rounded) {
            when(writes, [&] {
              auto key_at = here.key_at<KvWord>(own.pos);
              auto to_row = let("to_row", select(key_at + here.value_behind<KvWord>(), key_at, which == 1u));
              kv[to_row + quad] = rounded;
            });
          };
          if constexpr (kHasKvScales<KvWord>) {
            auto group = let("group", quad / (kScaleGroup / 4));
            const auto value = [&](Temp<U32> t) { return values[std::move(t)]; };
            const KvScale by = kv_scale_of(value, group, s.head_dim);
            auto codes = let("codes", kv_codes(v, by));
            own.quads[i] = int8_values(codes);
            when(quad % (kScaleGroup / 4) == 0u, [&] { own.scales[(which - 1u) * groups + group] = by.scale; });
            write(codes);
          } else {
            auto rounded = let("rounded", kv_quad<KvWord>(v));
            own.quads[i] = kv_values<KvWord>(rounded);
            write(rounded);
          }
        });
  });
  workgroupBarrier();
  if constexpr (kHasKvScales<KvWord>) {  // the scale is an exact f16 value, so packing it loses nothing
    const uint32_t words = kv_scale_words(s.head_dim);
    when(writes && b.tid < 2 * words, [&] {
      auto side = let("side", b.tid / words);
      auto word = let("word", b.tid % words);
      auto key_at = here.key_at<KvWord>(own.pos);
      auto to_row = let("to_row", key_at + side * here.value_behind<KvWord>());
      auto low = let("low", own.scales[side * groups + word]);
      auto high =
          let("high", select(0.0f, own.scales[side * groups + min(word + words, groups - 1)], word + words < groups));
      kv[to_row + (quads + word)] = packed<I8x4>(bits(pack2x16float(vec2f(low, high))));
    });
  }
  return own;
}

}  // namespace

template <class KvWord>
HeadsAttentionKernel<KvWord> heads_attention(const AttentionConfig& c, const HeadsConfig& h) {
  return kernel(
      c.max_splits > 0 ? "heads_attention_split" : "heads_attention", c.workgroup,
      [&](QkvRows qkv, QueryGain q_gain, KeyGain k_gain, RopeAngles angles, ParamsBuffer params,
          InOut<"kv", KvQuad<KvWord>> kv, Out<"y", F32> y, WorkgroupId wg, NumWorkgroups n_wg, LocalIndex tid) {
        const Builtins builtins{wg, n_wg, tid};
        const Places here(c, params, builtins);
        const OwnHeads own = make_own_heads<KvWord>(c, h, {qkv, q_gain, k_gain, angles}, kv, here, builtins);
        const auto query = [&](uint32_t i) { return e(own.quads[here.part_of_pos + i]); };
        AttentionBody<KvWord, decltype(kv)> body(c, kv, here, query, &own);
        body.attend(builtins);
        body.store(y, builtins, [](const auto&) {});
      });
}

// Checks that there are enough invocations for the teams, and enough workgroup memory: for the heads twice, the sums
// and weights of attention, and the reductions of attention and norm. A reduction without shuffles takes one value per
// invocation.
template <class KvWord>
bool has_heads_attention(const AttentionConfig& c, const HeadsConfig& h, uint32_t workgroup_bytes) {
  const bool shuffles = c.caps.subgroup > 0 && c.workgroup % c.caps.subgroup == 0;
  const uint32_t weights = kv_weights_per_position<KvWord>(c.heads.head_dim);
  const uint32_t heads = kOwnHeads * (2 * c.heads.head_dim + 1) + (kHasKvScales<KvWord> ? 2 * weights : 0);
  const uint32_t values = heads + (1 + weights) * c.chunk + (shuffles ? 5 : 8) * c.workgroup;
  return c.workgroup >= kOwnHeads * h.team() && values * sizeof(float) <= workgroup_bytes;
}

template AttentionKernel<F32> attention<F32>(const AttentionConfig&);
template AttentionKernel<F16x2> attention<F16x2>(const AttentionConfig&);
template AttentionKernel<I8x4> attention<I8x4>(const AttentionConfig&);
template HeadsAttentionKernel<F32> heads_attention<F32>(const AttentionConfig&, const HeadsConfig&);
template HeadsAttentionKernel<F16x2> heads_attention<F16x2>(const AttentionConfig&, const HeadsConfig&);
template HeadsAttentionKernel<I8x4> heads_attention<I8x4>(const AttentionConfig&, const HeadsConfig&);
template bool has_heads_attention<F32>(const AttentionConfig&, const HeadsConfig&, uint32_t);
template bool has_heads_attention<F16x2>(const AttentionConfig&, const HeadsConfig&, uint32_t);
template bool has_heads_attention<I8x4>(const AttentionConfig&, const HeadsConfig&, uint32_t);

}  // namespace tern::gpu
