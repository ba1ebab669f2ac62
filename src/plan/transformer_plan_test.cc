// The order of a layer's steps in unusual models, and plans of parts of a model.
#include <gtest/gtest.h>

#include "plan/plan_test_support.h"

namespace tern {
namespace {

using namespace plan_test;

// "name operation" of the steps from the first whose name begins with `prefix` to the last.
std::vector<std::string> steps_of(const Plan& plan, std::string_view prefix) {
  std::vector<std::string> all;
  for (const Step& step : plan.steps) {
    if (!step.name.starts_with(prefix)) continue;
    all.push_back(step.name.substr(prefix.size()) + " " + std::string(op_name(step.body)));
  }
  return all;
}
using Steps = std::vector<std::string>;

TEST(TransformerPlan, ASharedNetworkRunsBesideTheExperts) {
  const Config c = expert_config();
  const Weights w = expert_weights(c);
  const auto all = steps_of(make_plan(c, w, {.fuse = Fusions::none()}), "blk.1.");
  const Steps expected = {"ffn_norm rms_norm",
                          "ffn_gate_inp float_linear",
                          "ffn_gate_inp_shexp float_linear",
                          "ffn_gate_shexp float_linear",
                          "ffn_up_shexp float_linear",
                          "f_shared glu_mul",
                          "chosen route",
                          "ffn_down_shexp float_linear",
                          "ffn_gate_exps_up expert_glu",
                          "ffn_down_exps expert_linear",
                          "mix_experts mix_experts",
                          "x += o add"};
  ASSERT_GT(all.size(), expected.size());
  EXPECT_EQ(Steps(all.end() - static_cast<ptrdiff_t>(expected.size()), all.end()), expected);
}

TEST(TransformerPlan, ADenseNetworkRunsBesideTheExperts) {
  Config c = expert_config();
  c.experts.d_ff_shared = 0;
  const Weights dense = small_weights(c);
  Weights w = expert_weights(c);
  for (int i = 0; i < c.n_layers; ++i) {
    const std::string blk = "blk." + std::to_string(i) + ".";
    Layer& l = w.layers[static_cast<size_t>(i)];
    const Layer& from = dense.layers[static_cast<size_t>(i)];
    l.ffn_gate = from.ffn_gate, l.ffn_up = from.ffn_up, l.ffn_down = from.ffn_down;
    l.ffn_shared_gate = {};
    for (auto [norm, name] : {std::pair{&l.ffn_dense_post, "dense_post"},
                              {&l.ffn_router_norm, "router_norm"},
                              {&l.ffn_experts_norm, "experts_norm"},
                              {&l.ffn_experts_post, "experts_post"},
                              {&l.ffn_post_norm, "post_norm"}}) {
      *norm = tensor(blk + name, 1, c.d_model);
    }
    l.output_scale = 0.5f;
  }
  const Plan plan = make_plan(c, w, {.fuse = Fusions::none()});
  const auto all = steps_of(plan, "blk.1.");
  const Steps expected = {"ffn_norm rms_norm",
                          "ffn_gate float_linear",
                          "ffn_up float_linear",
                          "f glu_mul",
                          "router_norm rms_norm",
                          "ffn_gate_inp float_linear",
                          "ffn_down float_linear",
                          "chosen route",
                          "dense_post rms_norm",
                          "experts_norm rms_norm",
                          "ffn_gate_exps_up expert_glu",
                          "ffn_down_exps expert_linear",
                          "mix_experts mix_experts",
                          "experts_post rms_norm",
                          "both += o_norm add",
                          "post_norm rms_norm",
                          "x += o_norm add"};
  ASSERT_GT(all.size(), expected.size());
  EXPECT_EQ(Steps(all.end() - static_cast<ptrdiff_t>(expected.size()), all.end()), expected);
  float scale = 0;
  for (const Step& step : plan.steps) {
    if (const auto* add = std::get_if<step::Add>(&step.body); add && step.name == "blk.1.x += o_norm")
      scale = add->scale;
  }
  EXPECT_EQ(scale, 0.5f);
}

TEST(TransformerPlan, LayersGetInputsOfTheirOwn) {
  Config c = float_config();
  c.per_layer_width = 32;
  Weights w = small_weights(c);
  const int width = c.n_layers * c.per_layer_width;
  w.per_layer_embd = tensor("per_layer_token_embd", c.n_vocab, width);
  w.per_layer_proj = tensor("per_layer_model_proj", width, c.d_model);
  w.per_layer_norm = tensor("per_layer_proj_norm", 1, c.per_layer_width);
  for (Layer& l : w.layers) {
    l.input_gate = tensor("inp_gate", c.per_layer_width, c.d_model);
    l.input_proj = tensor("proj", c.d_model, c.per_layer_width);
    l.input_post_norm = tensor("post_norm", 1, c.d_model);
  }
  const Plan plan = make_plan(c, w, {.fuse = Fusions::none()});
  Steps first;
  for (size_t i = 0; i < 5; ++i) first.push_back(plan.steps[i].name + " " + std::string(op_name(plan.steps[i].body)));
  EXPECT_EQ(first, (Steps{"per_layer_token_embd embed", "token_embd embed", "per_layer_model_proj float_linear",
                          "per_layer_proj_norm head_norm", "layer_inputs += layer_rows add"}));
  EXPECT_EQ(std::get<step::Embed>(plan.steps[0].body).scale, 4) << "√(32 / 2)";
  int layer = 0;
  for (const Step& step : plan.steps) {
    const auto* mul = std::get_if<step::GluMul>(&step.body);
    if (!mul || plan.slot(mul->up).name != "layer_inputs") continue;
    EXPECT_EQ(mul->first_up, layer++ * c.per_layer_width);
  }
  EXPECT_EQ(layer, kLayers);
}

TEST(TransformerPlan, PartsBeginAndEndWithTheStream) {
  const Config c = float_config();
  const Weights w = small_weights(c);
  const auto part = [&](int first, int end) {
    return make_plan(c, w, {.fuse = Fusions::none(), .layers = LayerRange{first, end}});
  };
  const Plan begin = part(0, 1), middle = part(1, 2), end = part(2, 3);
  EXPECT_EQ(op_name(begin.steps.front().body), "embed");
  EXPECT_EQ(op_name(begin.steps.back().body), "select_rows");
  EXPECT_EQ(begin.slot(begin.hidden).name, "x");
  EXPECT_EQ(begin.slot(begin.logits).width, c.d_model);
  EXPECT_EQ(op_name(middle.steps.front().body), "hidden");
  EXPECT_EQ(middle.steps[1].name, "blk.1.attn_norm");
  EXPECT_EQ(middle.config.n_layers, 1);
  EXPECT_EQ(op_name(end.steps.front().body), "hidden");
  EXPECT_EQ(end.slot(end.logits).width, c.n_vocab);
  EXPECT_EQ(end.hidden, SlotId{});
}

// Not within layers that share keys and values, nor in models whose layers have inputs of their own.
TEST(TransformerPlan, PartsAtLayersThatNeedNothingBefore) {
  Config c = float_config();
  c.layers = {{}, {}, {}};
  for (int i = 0; i < 3; ++i) c.layers[static_cast<size_t>(i)].kv_layer = i;
  EXPECT_FALSE(may_part_before(c, 0));
  EXPECT_TRUE(may_part_before(c, 1));
  EXPECT_TRUE(may_part_before(c, 2));
  EXPECT_FALSE(may_part_before(c, 3));
  c.layers[2].kv_layer = 1;
  EXPECT_TRUE(may_part_before(c, 1));
  EXPECT_FALSE(may_part_before(c, 2));
  c.layers[2].kv_layer = 0;
  EXPECT_FALSE(may_part_before(c, 1));
  c.per_layer_width = 32;
  c.layers[2].kv_layer = 2;
  EXPECT_FALSE(may_part_before(c, 1));
}

// Norms and products of the next token and of the row before are added up, and the sum goes through the layer.
TEST(TransformerPlan, ABlockThatPredictsJoinsTokensAndRows) {
  PredictionBlock block{.config = float_config(), .weights = {}};
  block.config.n_layers = 1;
  block.weights = small_weights(block.config);
  const int width = block.config.d_model;
  block.weights.next_norm = tensor("enorm", 1, width), block.weights.hidden_norm = tensor("hnorm", 1, width);
  block.weights.next_proj = tensor("next_proj", width, width);
  block.weights.hidden_proj = tensor("hidden_proj", width, width);
  const Plan plan = make_prediction_plan(block, {.fuse = Fusions::none(), .keeps_hidden = true});
  Steps first;
  for (size_t i = 0; i < 8; ++i) first.push_back(plan.steps[i].name + " " + std::string(op_name(plan.steps[i].body)));
  EXPECT_EQ(first,
            (Steps{"nextn.hidden_before hidden", "token_embd embed", "enorm rms_norm", "next_proj float_linear",
                   "hnorm rms_norm", "hidden_proj float_linear", "nextn.x += o add", "blk.0.attn_norm rms_norm"}));
  EXPECT_EQ(plan.steps.back().name, "token_embd");
  EXPECT_EQ(plan.slot(plan.hidden).name, "hidden");
  EXPECT_EQ(plan.slot(plan.logits).width, block.config.n_vocab);
}

TEST(TransformerPlan, HeadsAreRotatedInTheOrderOfTheirFile) {
  Config c = recurrent_config();
  c.rotation_block = 64;
  Weights w = recurrent_weights(c);
  const Tensor signs = tensor("signs", 1, c.delta.value_width());
  for (Layer& l : w.layers) l.delta_output.rotation = &signs;
  for (const bool grouped : {false, true}) {
    c.delta.rotates_grouped = grouped;
    int n_rotations = 0;
    const Plan plan = make_plan(c, w, {.fuse = Fusions::none()});
    for (const Step& step : plan.steps) {
      const auto* rotate = std::get_if<step::Rotate>(&step.body);
      if (!rotate) continue;
      ++n_rotations;
      EXPECT_EQ(rotate->n_groups, grouped ? c.delta.n_k_heads : 0);
      EXPECT_EQ(rotate->head_dim, grouped ? c.delta.head_dim : 0);
      EXPECT_EQ(rotate->block, 64);
      EXPECT_FALSE(rotate->is_inverse);
    }
    EXPECT_EQ(n_rotations, kLayers);
  }
}

}  // namespace
}  // namespace tern
