#include "plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "plan/plan_test_support.h"
#include "plan/plan_writer.h"
#include "plan/step_weights.h"

namespace tern {
namespace {

using namespace plan_test;

TEST(Plan, HasEveryStepOfTheModel) {
  const std::map<std::string_view, int> expected = {
      {"embed", 1},
      {"rms_norm", 4 * kLayers + 1},
      {"quantize", 4 * kLayers},
      {"ternary_linear", 7 * kLayers},
      {"rope", 2 * kLayers},
      {"kv_append", kLayers},
      {"attention", kLayers},
      {"glu_mul", kLayers},
      {"add", 2 * kLayers},
      {"select_rows", 1},
      {"float_linear", 1},
  };
  EXPECT_EQ(count_ops(small_plan({.fuse = Fusions::none()})), expected);
}

// The names of the plan's weights, by role.
std::map<WeightRole, std::set<std::string>> weights_by_role(const Plan& plan) {
  std::map<WeightRole, std::set<std::string>> names;
  for (const Step& step : plan.steps) {
    for_each_weight(step.body, [&](const Tensor* w, WeightRole role) { names[role].insert(w->name); });
  }
  return names;
}

TEST(StepWeights, AreAllOfTheModelHoweverItIsFused) {
  for (const bool is_bitnet : {true, false}) {
    Config c = small_config();
    c.int8_activations = is_bitnet;
    const Weights w = small_weights(c);
    std::map<WeightRole, std::set<std::string>> expected;
    expected[WeightRole::kTable] = expected[WeightRole::kMatrix] = {"token_embd.weight"};  // also the head
    expected[WeightRole::kVector] = {"output_norm.weight"};
    for (const Layer& l : w.layers) {
      for (const Tensor* matrix :
           {&l.attn_q, &l.attn_k, &l.attn_v, &l.attn_output, &l.ffn_gate, &l.ffn_up, &l.ffn_down}) {
        expected[is_bitnet ? WeightRole::kTernary : WeightRole::kMatrix].insert(matrix->name);
      }
      for (const Tensor* gain :
           {&l.attn_norm, &l.ffn_norm, &l.attn_sub_norm, &l.ffn_sub_norm, &l.attn_q_norm, &l.attn_k_norm}) {
        if (!gain->name.empty()) expected[WeightRole::kVector].insert(gain->name);
      }
    }
    for (const Fusions& fuse : {Fusions::none(), Fusions::host(), Fusions::all()}) {
      EXPECT_EQ(weights_by_role(make_plan(c, w, {.fuse = fuse})), expected) << is_bitnet;
    }
  }
}

TEST(StepWeights, CanBeReplaced) {
  Plan plan = small_plan({.fuse = Fusions::all()});
  const Tensor other = tensor("other", 1, 1);
  for (Step& step : plan.steps) for_each_weight(step.body, [&](const Tensor*& weight, WeightRole) { weight = &other; });
  for (const auto& [role, names] : weights_by_role(plan)) EXPECT_EQ(names, std::set<std::string>{"other"});
}

// Replays the plan symbolically: a buffer holds the slot that was last written to it, and every read must find its own
// slot there.
void expect_reads_find_their_slots(const Plan& plan) {
  std::vector<int> holds(plan.buffers.size(), -1);
  for (const Step& step : plan.steps) {
    const auto uses = slot_uses(step.body);
    for (const SlotUse& use : uses) {
      const Slot& slot = plan.slot(use.slot);
      ASSERT_GE(slot.buffer, 0) << step.name;
      ASSERT_LE(slot.width, plan.buffers[static_cast<size_t>(slot.buffer)].width);
      ASSERT_EQ(slot.type, plan.buffers[static_cast<size_t>(slot.buffer)].type);
      if (use.reads) {
        ASSERT_EQ(holds[static_cast<size_t>(slot.buffer)], use.slot.index) << step.name << " reads " << slot.name;
      }
    }
    for (const SlotUse& use : uses) {
      for (const SlotUse& other : uses) {
        if (use.slot == other.slot) continue;
        ASSERT_NE(plan.slot(use.slot).buffer, plan.slot(other.slot).buffer) << step.name;
      }
      if (use.writes) holds[static_cast<size_t>(plan.slot(use.slot).buffer)] = use.slot.index;
    }
  }
  EXPECT_EQ(holds[static_cast<size_t>(plan.slot(plan.logits).buffer)], plan.logits.index);
}

TEST(MemoryPlan, SharedBuffersAreNeverOverwrittenWhileTheyAreNeeded) {
  for (const Fusions fuse : {Fusions::none(), Fusions::host(), Fusions::all()}) {
    const Plan plan = small_plan({.fuse = fuse});
    expect_reads_find_their_slots(plan);
    EXPECT_LT(plan.buffers.size(), plan.slots.size());
  }
}

// The first and the last layer are the same; the middle layer has fewer heads and a wider gate.
Config config_of_different_layers(bool int8_activations) {
  Config c = small_config();
  c.int8_activations = int8_activations;
  c.layers = {{}, {.n_heads = 2, .n_kv_heads = 1, .d_ff = 640}, {}};
  c.each_layer()[0].d_ff = c.each_layer()[2].d_ff = 256;
  return c;
}

TEST(Plan, StepsHaveTheirLayersHeads) {
  const Config c = config_of_different_layers(true);
  const Weights w = small_weights(c);
  for (const Fusions fuse : {Fusions::none(), Fusions::all()}) {
    const Plan plan = make_plan(c, w, {.fuse = fuse});
    std::vector<std::vector<int>> heads;
    for (const Step& step : plan.steps) {
      if (const auto* s = std::get_if<step::Attention>(&step.body)) {
        heads.push_back({s->n_heads, s->n_kv_heads, s->head_dim, plan.slot(s->q).width, plan.slot(s->out).width});
      } else if (const auto* append = std::get_if<step::KvAppend>(&step.body)) {
        heads.push_back({append->n_kv_heads, append->head_dim, plan.slot(append->k).width, plan.slot(append->v).width});
      } else if (const auto* qkv = std::get_if<step::TernaryQkv>(&step.body)) {
        heads.push_back(
            {qkv->n_heads, qkv->n_kv_heads, qkv->head_dim, plan.slot(qkv->q).width, plan.slot(qkv->k).width});
      }
    }
    const std::vector<int> of_outer = {4, 2, 64, 256, 256}, of_inner = {2, 1, 64, 128, 128};
    const std::vector<int> append_outer = {2, 64, 128, 128}, append_inner = {1, 64, 64, 64};
    const std::vector<int> qkv_outer = {4, 2, 64, 256, 128}, qkv_inner = {2, 1, 64, 128, 64};
    EXPECT_EQ(heads, fuse.qkv ? (std::vector{qkv_outer, of_outer, qkv_inner, of_inner, qkv_outer, of_outer})
                              : (std::vector{append_outer, of_outer, append_inner, of_inner, append_outer, of_outer}));
  }
}

// Layers of different shapes need no more memory than if all were as wide as the widest.
TEST(MemoryPlan, LayersOfDifferentShapesShareBuffers) {
  for (const bool int8_activations : {true, false}) {
    const Config c = config_of_different_layers(int8_activations);
    Config widest = c;
    widest.layers.clear();
    for (const Fusions fuse : {Fusions::none(), Fusions::host(), Fusions::all()}) {
      const Weights w = small_weights(c), w_widest = small_weights(widest);
      const Plan plan = make_plan(c, w, {.fuse = fuse}), plan_widest = make_plan(widest, w_widest, {.fuse = fuse});
      expect_reads_find_their_slots(plan);
      const auto width = [](const Plan& p) {
        int sum = 0;
        for (const Buffer& buffer : p.buffers) sum += buffer.type == SlotType::kNormStats ? 0 : buffer.width;
        return sum;
      };
      EXPECT_LE(width(plan), width(plan_widest));
    }
  }
}

TEST(MemoryPlanDeathTest, ReadingBeforeWritingAborts) {
  const Config c = small_config();
  const Weights w = small_weights(c);
  PlanWriter p(c);
  const SlotId x = p.slot("x", c.d_model), h = p.slot("h", c.d_model);
  p.rms_norm(x, w.output_norm, h);
  EXPECT_DEATH(p.finish(h, {}), "CHECK");
}

TEST(MemoryPlanDeathTest, ReadingWhatTheStepItselfWritesAborts) {
  const Config c = small_config();
  const Weights w = small_weights(c);
  PlanWriter p(c);
  const SlotId x = p.slot("x", c.d_model);
  p.embed(w.token_embd, x);
  p.rms_norm(x, w.output_norm, x);
  EXPECT_DEATH(p.finish(x, {}), "CHECK");
}

TEST(Plan, DescriptionNamesStepsOpsAndSlots) {
  const Config c = small_config();
  const Weights w = small_weights(c);
  const std::string text = describe(make_plan(c, w));
  EXPECT_NE(text.find("blk.2.attn_output"), std::string::npos);
  EXPECT_NE(text.find("ternary_glu"), std::string::npos);
  EXPECT_EQ(std::ranges::count(text, '\n'), 1 + 14 * kLayers + 3);
}

}  // namespace
}  // namespace tern
