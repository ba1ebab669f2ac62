// Which biases, sums and norms move into other steps, and that hosts get the steps back.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "plan/expand.h"
#include "plan/plan_test_support.h"
#include "plan/plan_writer.h"
#include "plan/step_weights.h"

namespace tern {
namespace {

using namespace plan_test;

Tensor bias_of(const Tensor& w) { return tensor(w.name + ".bias", 1, w.rows); }

void add_attention_biases(Layer& l) {
  for (Linear* w : {&l.attn_q, &l.attn_k, &l.attn_v, &l.attn_output}) w->bias = bias_of(*w);
}

template <class S>
const S& body_of(const Plan& plan, std::string_view name) {
  return std::get<S>(std::ranges::find(plan.steps, name, &Step::name)->body);
}

std::set<std::string> weights_of(const Plan& plan) {
  std::set<std::string> names;
  for (const Step& step : plan.steps) {
    for_each_weight(step.body, [&](const Tensor* weight, WeightRole) { names.insert(weight->name); });
  }
  return names;
}

// Hosts run the same operations on the same slots as without these fusions.
void expect_parts_back(const Config& c, const Weights& w) {
  const Plan parts = make_plan(c, w, {.fuse = {.linear_add = true, .glu = true}});
  const Plan fused = make_plan(c, w, {.fuse = Fusions::all()});
  EXPECT_EQ(weights_of(fused), weights_of(parts));
  const ExpandedPlan expanded = expand(fused);
  ASSERT_EQ(expanded.plan.steps.size(), parts.steps.size());
  std::vector<const Step*> left;
  for (const Step& step : parts.steps) left.push_back(&step);
  // A norm is computed again before each step that would have done it itself, and biases come before other products,
  // so the order may differ.
  for (const Step& step : expanded.plan.steps) {
    const auto is_it = [&](const Step* other) {
      const auto uses = slot_uses(step.body), expected = slot_uses(other->body);
      return other->body.index() == step.body.index() &&
             std::ranges::equal(uses, expected, {}, &SlotUse::slot, &SlotUse::slot);
    };
    const auto found = std::ranges::find_if(left, is_it);
    ASSERT_NE(found, left.end()) << step.name << " " << op_name(step.body);
    left.erase(found);
  }
}

TEST(FuseAdds, ProductsAddTheirBiases) {
  const Config c = float_config();
  Weights w = small_weights(c);
  for (Layer& l : w.layers) add_attention_biases(l);
  const Plan plan = make_plan(c, w, {.fuse = Fusions::all()});
  auto counts = count_ops(plan);
  EXPECT_EQ(counts["add_bias"], 0);
  EXPECT_EQ(counts["float_qkv"], kLayers);
  EXPECT_EQ(counts["float_linear_add"], 2 * kLayers);
  const auto& qkv = body_of<step::FloatQkv>(plan, "blk.1.attn_qkv");
  EXPECT_EQ(qkv.q_bias, &w.layers[1].attn_q.bias);
  EXPECT_EQ(qkv.k_bias, &w.layers[1].attn_k.bias);
  EXPECT_EQ(qkv.v_bias, &w.layers[1].attn_v.bias);
  const auto& output = body_of<step::FloatLinearAdd>(plan, "blk.1.attn_output");
  EXPECT_EQ(output.bias, &w.layers[1].attn_output.bias);
  EXPECT_EQ(plan.slot(output.sum).name, "o");
  EXPECT_EQ(body_of<step::FloatLinearAdd>(plan, "blk.1.ffn_down").bias, nullptr);
  expect_parts_back(c, w);
  Fusions without = Fusions::all();
  without.biases = false;
  EXPECT_EQ(count_ops(make_plan(c, w, {.fuse = without}))["add_bias"], 4 * kLayers);
}

TEST(FuseAdds, NoBiasIsLost) {
  const Config c = float_config();
  const auto count = [&](auto add) {
    Weights w = small_weights(c);
    for (Layer& l : w.layers) add(l);
    return count_ops(make_plan(c, w, {.fuse = Fusions::all()}));
  };
  auto key = count([](Layer& l) { l.attn_k.bias = bias_of(l.attn_k); });
  EXPECT_FALSE(key.contains("float_qkv")) << "only one of three";
  EXPECT_FALSE(key.contains("add_bias"));
  auto gate = count([](Layer& l) { l.ffn_gate.bias = bias_of(l.ffn_gate); });
  EXPECT_FALSE(gate.contains("float_glu"));
  EXPECT_TRUE(gate.contains("float_qkv"));
}

TEST(FuseAdds, ExpertsNormTheirInputAndAddTheirSum) {
  const Config c = expert_config();
  const Weights w = expert_weights(c);
  const Plan plan = make_plan(c, w, {.fuse = Fusions::all()});
  auto counts = count_ops(plan);
  EXPECT_EQ(counts["rms_norm"], 0);
  EXPECT_EQ(counts["add"], 0);
  EXPECT_EQ(counts["mix_experts_add"], kLayers);
  EXPECT_EQ(body_of<step::ExpertGlu>(plan, "blk.1.ffn_gate_exps_up").norm.gain, &w.layers[1].ffn_norm);
  EXPECT_EQ(body_of<step::FloatGlu>(plan, "blk.1.ffn_gate_shexp_up").norm.gain, &w.layers[1].ffn_norm);
  EXPECT_EQ(body_of<step::FloatLinear>(plan, "blk.1.ffn_gate_inp_shexp").norm.gain, &w.layers[1].ffn_norm);
  EXPECT_EQ(plan.slot(body_of<step::MixExpertsAdd>(plan, "blk.1.mix_experts").x).name, "x");
  EXPECT_EQ(weights_of(plan), weights_of(make_plan(c, w, {.fuse = Fusions::none()})));
}

TEST(FuseAdds, ANormIsAddedWithItsFactor) {
  const Config c = float_config();
  Weights w = small_weights(c);
  for (Layer& l : w.layers) {
    l.ffn_post_norm = tensor("post_ffw_norm", 1, c.d_model);
    l.output_scale = 0.5f;
  }
  const Plan plan = make_plan(c, w, {.fuse = Fusions::all()});
  EXPECT_EQ(count_ops(plan)["rms_norm_add"], kLayers);
  const auto& norm = body_of<step::RmsNormAdd>(plan, "post_ffw_norm");
  EXPECT_EQ(norm.scale, 0.5f);
  EXPECT_EQ(norm.norm.gain, &w.layers[0].ffn_post_norm);
  EXPECT_EQ(plan.slot(norm.x).name, "x");
  expect_parts_back(c, w);
}

TEST(FuseAdds, ANormThatIsReadAgainIsNotOnlyAdded) {
  const Config c = float_config();
  const Weights w = small_weights(c);
  const auto is_fused = [&](bool is_read_again) {
    PlanWriter p(c);
    const SlotId x = p.slot("x", c.d_model), o = p.slot("o", c.d_model), h = p.slot("h", c.d_model);
    const SlotId logits = p.slot("logits", c.n_vocab);
    p.embed(w.token_embd, x);
    p.embed(w.token_embd, o);
    p.rms_norm(o, w.output_norm, h);
    p.add(h, x);
    if (is_read_again) p.add(h, x, 0.5f);
    p.linear(x, w.output, logits);
    return count_ops(p.finish(logits, {.fuse = Fusions::all()})).contains("rms_norm_add");
  };
  EXPECT_TRUE(is_fused(false));
  EXPECT_FALSE(is_fused(true));
}

// What a plan does with a norm of x before a product reads it.
enum class Between { kNothing, kOtherSlot, kChangesX, kReadsNormed };

int norms_left(Between between) {
  const Config c = float_config();
  const Weights w = small_weights(c);
  PlanWriter p(c);
  const SlotId x = p.slot("x", c.d_model), h = p.slot("h", c.d_model), other = p.slot("other", c.d_model);
  const SlotId q = p.slot("q", c.q_width()), logits = p.slot("logits", c.n_vocab);
  const Layer& l = w.layers[0];
  p.embed(w.token_embd, x);
  p.embed(w.token_embd, other);
  p.rms_norm(x, l.attn_norm, h);
  p.linear(h, l.attn_q, q);
  if (between == Between::kOtherSlot) p.softcap(other, 5);
  if (between == Between::kChangesX) p.add(other, x);
  if (between == Between::kReadsNormed) p.add(h, other);
  p.linear(h, w.output, logits);
  return count_ops(p.finish(logits, {.fuse = Fusions::all()}))["rms_norm"];
}

TEST(FuseAdds, ReadersOfANormNeedNotBeSideBySide) {
  EXPECT_EQ(norms_left(Between::kNothing), 0);
  EXPECT_EQ(norms_left(Between::kOtherSlot), 0);
  EXPECT_EQ(norms_left(Between::kChangesX), 1) << "x is another row by then";
  EXPECT_EQ(norms_left(Between::kReadsNormed), 1) << "addition needs the normed row";
}

// Models that norm values as well as queries and keys.
TEST(FuseAdds, AttentionNormsValues) {
  const Config c = float_config();
  Weights w = small_weights(c);
  for (Layer& l : w.layers) l.attn_v_norm = tensor("attn_v_norm", 1, c.head_dim);
  const Plan plan = make_plan(c, w, {.fuse = Fusions::all()});
  EXPECT_EQ(count_ops(plan)["head_norm"], 0);
  EXPECT_EQ(body_of<step::Attention>(plan, "blk.1.attention").heads->v_gain, &w.layers[1].attn_v_norm);
  expect_parts_back(c, w);
  for (Layer& l : w.layers) l.attn_v_norm = tensor("attn_v_norm", 1, c.kv_width());
  EXPECT_FALSE(count_ops(make_plan(c, w, {.fuse = Fusions::all()})).contains("float_qkv")) << "of all heads together";
}

}  // namespace
}  // namespace tern
