#include "plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/plan_test_support.h"
#include "plan/plan_writer.h"

namespace tern {
namespace {

using namespace plan_test;

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
      {"glu_mul", kLayers},
      {"add", 2 * kLayers},
      {"select_rows", 1},
      {"float_linear", 1},
  };
  EXPECT_EQ(count_ops(make_plan(c, w, {.fuse = Fusions::none()})), expected);
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
  for (const Fusions fuse : {Fusions::none(), Fusions::host(), Fusions::all()}) {
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
