// Steps of float layers that look like those of a rule of fusion, but must stay apart.
#include <gtest/gtest.h>

#include "plan/plan_test_support.h"
#include "plan/plan_writer.h"

namespace tern {
namespace {

using namespace plan_test;

// A sum right after a product is part of it if it adds the product, which nothing else reads, without a factor.
TEST(FuseRules, OnlyTheSumOfAProductBelongsToIt) {
  const Config c = float_config();
  const Weights w = small_weights(c);
  const auto is_fused = [&](bool adds_it, float scale, bool is_read_again) {
    PlanWriter p(c);
    const SlotId x = p.slot("x", c.d_model), y = p.slot("y", c.d_model), other = p.slot("other", c.d_model);
    const SlotId q = p.slot("q", c.q_width()), logits = p.slot("logits", c.n_vocab);
    p.embed(w.token_embd, x);
    p.embed(w.token_embd, other);
    p.linear(x, w.layers[0].attn_q, q);
    p.linear(q, w.layers[0].attn_output, y);
    p.add(adds_it ? y : other, x, scale);
    if (is_read_again) p.add(y, other);
    p.linear(x, w.output, logits);
    return count_ops(p.finish(logits, {.fuse = {.linear_add = true}})).contains("float_linear_add");
  };
  EXPECT_TRUE(is_fused(true, 1, false));
  EXPECT_FALSE(is_fused(false, 1, false));
  EXPECT_FALSE(is_fused(true, 0.5f, false));
  EXPECT_FALSE(is_fused(true, 1, true));
}

// A gate and an up that another step reads, or writes first, after they are multiplied.
TEST(FuseRules, AGluOnlyWhereNothingElseNeedsItsParts) {
  const Config c = float_config();
  const Weights w = small_weights(c);
  const auto is_fused = [&](bool reads_gate, bool reads_up, bool overwrites) {
    PlanWriter p(c);
    const SlotId x = p.slot("x", c.d_model), gate = p.slot("gate", c.d_ff), up = p.slot("up", c.d_ff);
    const SlotId other = p.slot("other", c.d_ff), logits = p.slot("logits", c.n_vocab);
    LinearInput f = p.slot("f", c.d_ff);
    const Layer& l = w.layers[0];
    p.embed(w.token_embd, x);
    p.linear(x, l.ffn_gate, gate);
    p.linear(x, l.ffn_up, up);
    p.glu_mul(gate, up, f);
    p.linear(x, l.ffn_gate, other);
    if (overwrites) p.linear(x, l.ffn_up, up);
    if (reads_gate) p.add(gate, other);
    if (reads_up || overwrites) p.add(up, other);
    p.linear(f, l.ffn_down, x);
    p.linear(x, w.output, logits);
    return count_ops(p.finish(logits, {.fuse = {.glu = true}})).contains("float_glu");
  };
  EXPECT_TRUE(is_fused(false, false, false));
  EXPECT_FALSE(is_fused(true, false, false));
  EXPECT_FALSE(is_fused(false, true, false));
  EXPECT_TRUE(is_fused(false, false, true));
}

// Norms of queries and keys that differ, or are of another slot, are steps of their own.
TEST(FuseRules, HeadNormsOfOneKind) {
  const Config c = float_config();
  const Weights w = small_weights(c);
  const auto is_fused = [&](bool norms_key, float eps_factor) {
    PlanWriter p(c);
    LinearInput y = p.slot("y", c.q_width());
    const SlotId x = p.slot("x", c.d_model), q = p.slot("q", c.q_width());
    const SlotId k = p.slot("k", c.kv_width()), v = p.slot("v", c.kv_width()), logits = p.slot("logits", c.n_vocab);
    const Layer& l = w.layers[0];
    p.embed(w.token_embd, x);
    p.linear(x, l.attn_q, q);
    p.linear(x, l.attn_k, k);
    p.linear(x, l.attn_v, v);
    p.head_norm(q, l.attn_q_norm, c.n_heads);
    p.head_norm(norms_key ? k : v, l.attn_k_norm, c.n_kv_heads, eps_factor);
    p.rope(q, c.n_heads);
    p.rope(k, c.n_kv_heads);
    p.kv_append(k, v, 0);
    p.attention(q, 0, y);
    p.linear(y, w.output, logits);
    return count_ops(p.finish(logits, {.fuse = Fusions::all()})).contains("float_qkv");
  };
  EXPECT_TRUE(is_fused(true, 1));
  EXPECT_FALSE(is_fused(false, 1));
  EXPECT_FALSE(is_fused(true, 2));
}

TEST(FuseRules, PairsOfAPartOfAHeadAreHalvesApart) {
  for (const auto& [pairs, n_dims, is_fused] : {std::tuple{RopePairs::kInterleaved, 0, true},
                                                {RopePairs::kHalves, 32, true},
                                                {RopePairs::kInterleaved, 32, false}}) {
    Config c = float_config();
    c.ropes[0].pairs = pairs, c.ropes[0].n_dims = n_dims;
    const Weights w = small_weights(c);
    EXPECT_EQ(count_ops(make_plan(c, w, {.fuse = Fusions::all()})).contains("float_qkv"), is_fused) << n_dims;
  }
}

}  // namespace
}  // namespace tern
