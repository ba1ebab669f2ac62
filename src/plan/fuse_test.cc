// Where fusion rewrites the plan, and where it must not.
#include "plan/fuse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "plan/expand.h"
#include "plan/plan_test_support.h"
#include "plan/plan_writer.h"

namespace tern {
namespace {

using namespace plan_test;

TEST(Fuse, HostFusionsLeaveFourteenStepsALayer) {
  const std::map<std::string_view, int> expected = {
      {"embed", 1},
      {"rms_norm_quantize", 4 * kLayers},
      {"ternary_linear", 3 * kLayers},
      {"rope", 2 * kLayers},
      {"kv_append", kLayers},
      {"attention", kLayers},
      {"ternary_linear_add", 2 * kLayers},
      {"ternary_glu", kLayers},
      {"select_rows", 1},
      {"rms_norm", 1},
      {"float_linear", 1},
  };
  const Plan plan = small_plan({.fuse = Fusions::host()});
  EXPECT_EQ(count_ops(plan), expected);
  EXPECT_EQ(plan.steps.size(), static_cast<size_t>(1 + 14 * kLayers + 3));
}

TEST(Fuse, AllFusionsLeaveFiveStepsALayer) {
  const std::map<std::string_view, int> expected = {
      {"embed", 1},
      {"rms_norm_quantize", 1},  // the norm of the embedding, because embed leaves no statistics
      {"ternary_qkv", kLayers},
      {"attention", kLayers},
      {"ternary_linear_add", 2 * kLayers},
      {"ternary_glu", kLayers},
      {"select_rows", 1},
      {"float_linear", 1},  // includes the output norm
  };
  EXPECT_EQ(count_ops(small_plan({.fuse = Fusions::all()})), expected);
}

// The step before a norm's reader leaves that norm's statistics, with the norm's own gain.
TEST(Fuse, StatisticsMeetTheirNorm) {
  const Plan plan = small_plan({.fuse = Fusions::all()});
  const auto body_of = [&](std::string_view name) { return std::ranges::find(plan.steps, name, &Step::name)->body; };
  const auto attention = std::get<step::Attention>(body_of("blk.1.attention"));
  const auto output = std::get<step::TernaryLinearAdd>(body_of("blk.1.attn_output"));
  const auto glu = std::get<step::TernaryGlu>(body_of("blk.1.ffn_gate_up"));
  const auto down = std::get<step::TernaryLinearAdd>(body_of("blk.1.ffn_down"));
  const auto next = std::get<step::TernaryQkv>(body_of("blk.2.attn_qkv"));
  const auto meets = [&](const step::StatsOnWrite& written, const step::NormOnRead& read, const char* gain) {
    EXPECT_EQ(written.gain, read.gain);
    EXPECT_EQ(read.gain->name, gain);
    EXPECT_EQ(written.stats, read.stats);
    EXPECT_EQ(plan.slot(read.stats).type, SlotType::kNormStats);
  };
  meets(attention.next, output.norm, "blk.1.attn_sub_norm.weight");
  meets(output.next, glu.norm, "blk.1.ffn_norm.weight");
  meets(glu.next, down.norm, "blk.1.ffn_sub_norm.weight");
  meets(down.next, next.norm, "blk.2.attn_norm.weight");
  const auto last = std::get<step::TernaryLinearAdd>(body_of("blk.2.ffn_down"));
  EXPECT_EQ(last.next.gain, nullptr);  // the output norm stays a step
}

TEST(Fuse, EverySwitchIsItsOwn) {
  const auto fused = [&](Fusions fuse) {
    auto counts = count_ops(small_plan({.fuse = fuse}));
    return std::vector{counts["rms_norm_quantize"], counts["ternary_linear_add"], counts["ternary_glu"],
                       counts["ternary_qkv"]};
  };
  EXPECT_EQ(fused({.norm_quantize = true}), (std::vector{4 * kLayers, 0, 0, 0}));
  EXPECT_EQ(fused({.linear_add = true}), (std::vector{0, 2 * kLayers, 0, 0}));
  EXPECT_EQ(fused({.glu = true}), (std::vector{0, 0, kLayers, 0}));
  EXPECT_EQ(fused({.qkv = true}), (std::vector{0, 0, 0, kLayers}));
  EXPECT_EQ(fused(Fusions::none()), (std::vector{0, 0, 0, 0}));
}

TEST(Fuse, NormIsNotFusedWhereItsOutputIsReadAgain) {
  const Config c = small_config();
  const Weights w = small_weights(c);
  PlanWriter p(c);
  const SlotId x = p.slot("x", c.d_model), h = p.slot("h", c.d_model);
  const SlotId hq = p.slot("hq", c.d_model, SlotType::kInt8);
  const SlotId logits = p.slot("logits", c.n_vocab);
  p.embed(w.token_embd, x);
  p.rms_norm(x, w.output_norm, h);
  p.quantize(h, hq);
  p.linear(h, w.output, logits);
  const Plan plan = p.finish(logits, {.fuse = Fusions::host()});
  EXPECT_EQ(count_ops(plan).count("rms_norm_quantize"), 0u);
}

TEST(Fuse, QkvCarriesWhatItsStepsSaid) {
  Config c = small_config();
  c.ropes[0].pairs = RopePairs::kInterleaved;
  const Weights w = small_weights(c);
  const Plan plan = make_plan(c, w, {.fuse = Fusions::all()});
  const auto found = std::ranges::find(plan.steps, "blk.1.attn_qkv", &Step::name);
  ASSERT_NE(found, plan.steps.end());
  const auto& qkv = std::get<step::TernaryQkv>(found->body);
  EXPECT_EQ(qkv.wq->name, "blk.1.attn_q.weight");
  EXPECT_EQ(qkv.wk->name, "blk.1.attn_k.weight");
  EXPECT_EQ(qkv.wv->name, "blk.1.attn_v.weight");
  EXPECT_EQ(plan.slot(qkv.in).name, "x");
  EXPECT_EQ(qkv.norm.gain->name, "blk.1.attn_norm.weight");
  EXPECT_EQ(qkv.norm.eps, c.rms_eps);
  EXPECT_EQ(plan.slot(qkv.norm.quantized).name, "h_q");
  EXPECT_EQ(plan.slot(qkv.q).name, "q");
  EXPECT_EQ(plan.slot(qkv.k).name, "k");
  EXPECT_EQ(plan.slot(qkv.v).name, "v");
  EXPECT_EQ(qkv.layer, 1);
  EXPECT_EQ(qkv.n_heads, 4);
  EXPECT_EQ(qkv.n_kv_heads, 2);
  EXPECT_EQ(qkv.head_dim, 64);
  EXPECT_EQ(qkv.rope, 0);
  EXPECT_EQ(qkv.pairs, RopePairs::kInterleaved);
  EXPECT_NE(describe(plan).find(" ~h_q[256]@"), std::string::npos);
  EXPECT_NE(describe(plan).find(" ~k[128]@"), std::string::npos);
}

// The attention steps of one layer, with a step changed or added between or after them.
enum class Variation {
  kNone,
  kAppendsV,
  kKIsReadAgain,
  kVIsReadAgain,
  kQIsNotRead,
  kOtherInput,
  kRopeOfVInstead,
  kPartialRope,
  kAppendsNothing,
  kHeadNorms,
  kOtherRope
};

bool qkv_is_fused(Variation variation) {
  Config c = small_config();
  if (variation == Variation::kPartialRope) c.ropes[0].n_dims = c.head_dim / 2;
  if (variation == Variation::kOtherRope) {
    c.ropes.push_back({.theta = 500});
    c.layers = {{}, {.rope = 1}, {}};
  }
  Weights w = small_weights(c);
  w.layers[0].attn_q_norm = tensor("q_norm", 1, c.head_dim), w.layers[0].attn_k_norm = tensor("k_norm", 1, c.head_dim);
  PlanWriter p(c);
  LinearInput y = p.slot("y", c.d_model), kv = p.slot("kv", c.kv_width());
  const SlotId x = p.slot("x", c.d_model), logits = p.slot("logits", c.n_vocab);
  const SlotId xq = p.slot("xq", c.d_model, SlotType::kInt8), yq = p.slot("yq", c.d_model, SlotType::kInt8);
  const SlotId q = p.slot("q", c.q_width()), other = p.slot("other", c.q_width());
  const SlotId k = p.slot("k", c.kv_width()), v = p.slot("v", c.kv_width());
  p.embed(w.token_embd, x);
  p.quantize(x, xq);
  p.quantize(x, yq);
  p.rms_norm(x, w.output_norm, other);
  const Layer& l = w.layers[0];
  p.linear(xq, l.attn_q, q);
  p.linear(variation == Variation::kOtherInput ? yq : xq, l.attn_k, k);
  p.linear(xq, l.attn_v, v);
  if (variation == Variation::kHeadNorms) {
    p.head_norm(q, l.attn_q_norm, c.n_heads);
    p.head_norm(k, l.attn_k_norm, c.n_kv_heads);
  }
  p.rope(q, c.n_heads);
  p.rope(variation == Variation::kRopeOfVInstead ? v : k, c.n_kv_heads, variation == Variation::kOtherRope ? 1 : 0);
  if (variation != Variation::kAppendsNothing) {
    variation == Variation::kAppendsV ? p.kv_append(v, k, 0) : p.kv_append(k, v, 0);
  }
  p.attention(variation == Variation::kQIsNotRead ? other : q, 0, y);
  if (variation == Variation::kKIsReadAgain) p.glu_mul(k, k, kv);
  if (variation == Variation::kVIsReadAgain) p.glu_mul(v, v, kv);
  p.linear(y, w.output, logits);
  const Plan plan = p.finish(logits, {.fuse = Fusions::all()});
  return count_ops(plan).contains("ternary_qkv");
}

TEST(Fuse, QkvOnlyWhereNothingElseNeedsItsParts) {
  EXPECT_TRUE(qkv_is_fused(Variation::kNone));
  EXPECT_FALSE(qkv_is_fused(Variation::kAppendsV));
  EXPECT_FALSE(qkv_is_fused(Variation::kKIsReadAgain));
  EXPECT_FALSE(qkv_is_fused(Variation::kVIsReadAgain));
  EXPECT_FALSE(qkv_is_fused(Variation::kQIsNotRead));
  EXPECT_FALSE(qkv_is_fused(Variation::kOtherInput));
  EXPECT_FALSE(qkv_is_fused(Variation::kRopeOfVInstead));
  EXPECT_FALSE(qkv_is_fused(Variation::kPartialRope));
  EXPECT_FALSE(qkv_is_fused(Variation::kAppendsNothing));
  EXPECT_FALSE(qkv_is_fused(Variation::kHeadNorms));
  EXPECT_FALSE(qkv_is_fused(Variation::kOtherRope));
}

TEST(Fuse, AttentionMakesTheHeadsOfFloatLayers) {
  const Config c = float_config();
  const Weights w = small_weights(c);
  const std::map<std::string_view, int> expected = {
      {"embed", 1},           {"float_qkv", kLayers}, {"attention", kLayers}, {"float_linear_add", 2 * kLayers},
      {"float_glu", kLayers}, {"select_rows", 1},     {"float_linear", 1},
  };
  const Plan plan = make_plan(c, w, {.fuse = Fusions::all()});
  EXPECT_EQ(count_ops(plan), expected);
  const auto body_of = [&](std::string_view name) { return std::ranges::find(plan.steps, name, &Step::name)->body; };
  const auto qkv = std::get<step::FloatQkv>(body_of("blk.1.attn_qkv"));
  const auto attention = std::get<step::Attention>(body_of("blk.1.attention"));
  EXPECT_TRUE(qkv.leaves_heads);
  ASSERT_TRUE(attention.heads);
  EXPECT_EQ(attention.heads->q_gain->name, "blk.1.attn_q_norm.weight");
  EXPECT_EQ(attention.heads->k_gain->name, "blk.1.attn_k_norm.weight");
  EXPECT_EQ(attention.heads->eps, c.rms_eps);
  EXPECT_EQ(attention.heads->layer, 1);
  EXPECT_EQ(attention.heads->n_kv_heads, 2);
  EXPECT_EQ(attention.heads->rope, 0);
  EXPECT_EQ(plan.slot(attention.heads->qkv).width, c.q_width() + 2 * c.kv_width());
  // The slots passed between the two steps share no memory with any slot that either step uses.
  const std::vector<SlotUse> uses = slot_uses(attention);
  EXPECT_EQ(uses.size(), 5u);
  std::set<int> buffers;
  for (const SlotUse& use : uses) {
    EXPECT_EQ(use.is_output(), use.slot == attention.out);
    EXPECT_TRUE(buffers.insert(plan.slot(use.slot).buffer).second);
  }
  for (const SlotUse& use : slot_uses(qkv)) EXPECT_FALSE(use.is_output());
  EXPECT_EQ(std::ranges::count(plan.slots, "qkv", &Slot::name), 1) << "layers of one shape share it";
}

TEST(Fuse, HeadsStayWhereNoAttentionFollowsThatCouldMakeThem) {
  const Config c = float_config();
  const Weights w = small_weights(c);
  const auto made_by_attention = [&](Fusions fuse) {
    const Plan plan = make_plan(c, w, {.fuse = fuse});
    return std::ranges::count_if(plan.steps, [](const Step& step) {
      const auto* attention = std::get_if<step::Attention>(&step.body);
      return attention && attention->heads;
    });
  };
  EXPECT_EQ(made_by_attention({.qkv = true, .heads = true}), kLayers);
  EXPECT_EQ(made_by_attention({.qkv = true}), 0);
  EXPECT_EQ(made_by_attention({.heads = true}), 0);
}

// The first matrices of a recurrent layer are one stack for each input and format.
TEST(Fuse, RecurrentLayersAreFiveSteps) {
  const Config c = recurrent_config();
  Weights w = recurrent_weights(c);
  const auto count = [&](Fusions fuse) {
    auto counts = count_ops(make_plan(c, w, {.fuse = fuse}));
    return std::vector{counts["float_stack"], counts["gated_delta"], counts["float_linear"], counts["rms_norm"]};
  };
  EXPECT_EQ(count(Fusions::all()), (std::vector{kLayers, kLayers, 1, 0}));
  EXPECT_EQ(count({.delta = true}), (std::vector{kLayers, kLayers, 4 * kLayers + 1, 2 * kLayers + 1}));
  EXPECT_EQ(count({.norms = true}), (std::vector{0, 0, 8 * kLayers + 1, 0}));
  w.layers[1].delta_alpha.format = w.layers[1].delta_beta.format = Format::kBF16;
  EXPECT_EQ(count(Fusions::all()), (std::vector{kLayers + 1, kLayers, 1, 0}));
  const Plan plan = make_plan(c, w, {.fuse = Fusions::all()});
  int first = 0;
  for (const Step& step : plan.steps) {
    const auto* stack = std::get_if<step::FloatStack>(&step.body);
    if (!stack) continue;
    EXPECT_EQ(stack->first, first) << step.name;
    EXPECT_EQ(stack->is_rest, first > 0) << step.name;
    EXPECT_EQ(stack->norm.gain, &w.layers[step.name[4] - '0'].attn_norm);
    for (const auto& part : stack->parts) first += part.w->rows;
    if (first == plan.slot(stack->out).width) first = 0;
  }
  EXPECT_EQ(first, 0);
}

TEST(Expand, GivesTheStepsOfFloatLayersBack) {
  const Config c = float_config();
  const Weights w = small_weights(c);
  const Plan fused = make_plan(c, w, {.fuse = Fusions::all()});
  const Plan parts = make_plan(c, w, {.fuse = {.linear_add = true, .glu = true}});
  const ExpandedPlan expanded = expand(fused);
  ASSERT_EQ(expanded.plan.steps.size(), parts.steps.size());
  for (size_t i = 0; i < parts.steps.size(); ++i) {
    const auto uses = slot_uses(expanded.plan.steps[i].body), expected = slot_uses(parts.steps[i].body);
    ASSERT_EQ(expanded.plan.steps[i].body.index(), parts.steps[i].body.index()) << parts.steps[i].name;
    ASSERT_EQ(uses.size(), expected.size()) << parts.steps[i].name;
    for (size_t j = 0; j < uses.size(); ++j) EXPECT_EQ(uses[j].slot, expected[j].slot) << parts.steps[i].name;
  }
}

TEST(Expand, GivesTheStepsBackThatWereFused) {
  const Config c = small_config();
  const Weights w = small_weights(c);
  const Plan fused = make_plan(c, w, {.fuse = Fusions::all()});
  const Plan host = make_plan(c, w, {.fuse = Fusions::host()});
  const ExpandedPlan expanded = expand(fused);
  ASSERT_EQ(expanded.plan.steps.size(), host.steps.size());
  ASSERT_EQ(expanded.completes.size(), host.steps.size());
  std::vector<const Step*> completed;
  for (size_t i = 0; i < host.steps.size(); ++i) {
    const StepBody& body = expanded.plan.steps[i].body;
    ASSERT_EQ(body.index(), host.steps[i].body.index()) << i;
    const auto uses = slot_uses(body), expected = slot_uses(host.steps[i].body);
    ASSERT_EQ(uses.size(), expected.size());
    for (size_t j = 0; j < uses.size(); ++j) EXPECT_EQ(uses[j].slot, expected[j].slot) << host.steps[i].name;
    if (const auto* linear = std::get_if<step::TernaryLinear>(&body)) {
      EXPECT_EQ(linear->w, std::get<step::TernaryLinear>(host.steps[i].body).w) << host.steps[i].name;
    }
    if (const auto* rope = std::get_if<step::Rope>(&body)) {
      EXPECT_EQ(rope->n_heads, std::get<step::Rope>(host.steps[i].body).n_heads) << host.steps[i].name;
    }
    if (expanded.completes[i]) completed.push_back(expanded.completes[i]);
  }
  ASSERT_EQ(completed.size(), fused.steps.size());
  for (size_t i = 0; i < completed.size(); ++i) EXPECT_EQ(completed[i], &fused.steps[i]);
}

}  // namespace
}  // namespace tern
