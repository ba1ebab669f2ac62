#include "plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "plan/plan_writer.h"

namespace tern {
namespace {

constexpr int kLayers = 3;

Config small_config() {
  return {.architecture = "bitnet-b1.58",
          .n_layers = kLayers,
          .d_model = 256,
          .n_heads = 4,
          .n_kv_heads = 2,
          .head_dim = 64,
          .d_ff = 640,
          .n_vocab = 300,
          .n_ctx = 32,
          .rms_eps = 1e-5f,
          .rope_theta = 10000};
}

Tensor tensor(std::string name, int rows, int cols) {
  return {.name = std::move(name), .rows = rows, .cols = cols, .data = {}};
}

Weights small_weights(const Config& c) {
  Weights w;
  w.token_embd = tensor("token_embd.weight", c.n_vocab, c.d_model);
  for (int i = 0; i < c.n_layers; ++i) {
    const std::string blk = "blk." + std::to_string(i) + ".";
    w.layers.push_back({.attn_norm = tensor(blk + "attn_norm.weight", 1, c.d_model),
                        .attn_q = tensor(blk + "attn_q.weight", c.q_width(), c.d_model),
                        .attn_k = tensor(blk + "attn_k.weight", c.kv_width(), c.d_model),
                        .attn_v = tensor(blk + "attn_v.weight", c.kv_width(), c.d_model),
                        .attn_sub_norm = tensor(blk + "attn_sub_norm.weight", 1, c.q_width()),
                        .attn_output = tensor(blk + "attn_output.weight", c.d_model, c.q_width()),
                        .ffn_norm = tensor(blk + "ffn_norm.weight", 1, c.d_model),
                        .ffn_gate = tensor(blk + "ffn_gate.weight", c.d_ff, c.d_model),
                        .ffn_up = tensor(blk + "ffn_up.weight", c.d_ff, c.d_model),
                        .ffn_sub_norm = tensor(blk + "ffn_sub_norm.weight", 1, c.d_ff),
                        .ffn_down = tensor(blk + "ffn_down.weight", c.d_model, c.d_ff)});
  }
  w.output_norm = tensor("output_norm.weight", 1, c.d_model);
  w.output = w.token_embd;
  return w;
}

std::map<std::string_view, int> count_ops(const Plan& plan) {
  std::map<std::string_view, int> counts;
  for (const Step& step : plan.steps) ++counts[op_name(step.body)];
  return counts;
}

TEST(Plan, HasEveryStepOfTheModel) {
  const Config c = small_config();
  const Weights w = small_weights(c);
  const std::map<std::string_view, int> expected = {
      {"embed", 1},
      {"rms_norm", 4 * kLayers + 1},
      {"quantize", 4 * kLayers},
      {"ternary_linear", 7 * kLayers},
      {"rope", 2 * kLayers},
      {"kv_append", kLayers},
      {"attention", kLayers},
      {"relu2_mul", kLayers},
      {"add", 2 * kLayers},
      {"select_rows", 1},
      {"float_linear", 1},
  };
  EXPECT_EQ(count_ops(make_plan(c, w, {.fuse = false})), expected);
}

TEST(Plan, FusionLeavesFourteenStepsALayer) {
  const Config c = small_config();
  const Weights w = small_weights(c);
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
  const Plan plan = make_plan(c, w, {.fuse = true});
  EXPECT_EQ(count_ops(plan), expected);
  EXPECT_EQ(plan.steps.size(), static_cast<size_t>(1 + 14 * kLayers + 3));
}

TEST(Plan, NormIsNotFusedWhereItsOutputIsReadAgain) {
  const Config c = small_config();
  const Weights w = small_weights(c);
  PlanWriter p(c);
  const SlotId x = p.slot("x", c.d_model), h = p.slot("h", c.d_model);
  const SlotId hq = p.slot("hq", c.d_model, SlotType::kInt8);
  const SlotId logits = p.slot("logits", c.n_vocab);
  p.embed(w.token_embd, x);
  p.rms_norm(x, w.output_norm, h);
  p.quantize(h, hq);
  p.float_linear(h, w.output, logits);
  const Plan plan = p.finish(logits, {.fuse = true});
  EXPECT_EQ(count_ops(plan).count("rms_norm_quantize"), 0u);
}

// Replays the plan symbolically: a buffer holds the slot that was written to it last, and every read must find its
// slot.
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
  const Config c = small_config();
  const Weights w = small_weights(c);
  for (const bool fuse : {false, true}) {
    const Plan plan = make_plan(c, w, {.fuse = fuse});
    expect_reads_find_their_slots(plan);
    EXPECT_LT(plan.buffers.size(), plan.slots.size());
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
