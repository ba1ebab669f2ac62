// Whole plans, fused and not, give the same bits on every host backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "backend/cpu/cpu_backend.h"
#include "backend/kv_cache.h"
#include "backend/ref/ref_backend.h"
#include "conform/delta_model.h"
#include "conform/float_model.h"
#include "model/model.h"
#include "support/checkout.h"

namespace tern {
namespace {

constexpr int kTokens = 5;
const CompileOptions kOptions = {.max_batch = 3, .max_logit_rows = 3};

struct Outcome {
  std::vector<float> logits;       // [kTokens, n_vocab]
  std::vector<std::string> slots;  // "step slot", as observed in the last batch
};

// Five tokens in two batches. The second batch reads what the first wrote to the cache.
Outcome run(Executable& executable) {
  const std::vector<TokenId> tokens = {1, 300, 42, 400, 5};
  const auto cache = executable.new_cache(kTokens, KvType::kF16).value();
  Outcome outcome;
  executable.observe([&](const StepOutput& o) { outcome.slots.push_back(o.step->name + " " + o.slot->name); });
  for (const auto& [first, n] : {std::pair{0, 3}, {3, 2}}) {
    outcome.slots.clear();
    const auto batch = std::span(tokens).subspan(static_cast<size_t>(first), static_cast<size_t>(n));
    const auto logits = executable.run(*cache, {.tokens = batch, .first_pos = first, .logits = WantLogits::kAll});
    outcome.logits.insert(outcome.logits.end(), logits->begin(), logits->end());
  }
  return outcome;
}

class FusedPlan : public testing::Test {
 protected:
  Plan plan(Fusions fuse) const { return make_plan(model_.config, model_.weights, {.fuse = fuse}); }
  Outcome run_ref(Fusions fuse) const {
    const Plan fused = plan(fuse);
    return run(*ref::compile(fused, kOptions).value());
  }
  Outcome run_cpu(Fusions fuse) {
    const Plan fused = plan(fuse);
    return run(*cpu::compile(fused, kOptions, pool_).value());
  }

  const Model model_ = open_model(source_path("models/tern-stories.gguf")).value();
  ThreadPool pool_{2};
};

TEST_F(FusedPlan, TheReferenceGivesTheSameBits) {
  const auto expected = run_ref(Fusions::none()).logits;
  ASSERT_EQ(expected.size(), static_cast<size_t>(kTokens) * 8192);
  EXPECT_EQ(run_ref(Fusions::host()).logits, expected);
  EXPECT_EQ(run_ref(Fusions::all()).logits, expected);
  EXPECT_EQ(run_ref({.qkv = true}).logits, expected);
}

TEST_F(FusedPlan, TheCpuGivesTheSameBits) {
  const auto expected = run_cpu(Fusions::none()).logits;
  EXPECT_EQ(run_cpu(Fusions::host()).logits, expected);
  EXPECT_EQ(run_cpu(Fusions::all()).logits, expected);
  EXPECT_EQ(run_cpu({.qkv = true}).logits, expected);
}

// A fused step is observed once, with its query as the output, also on backends that run it in parts.
TEST_F(FusedPlan, AFusedStepIsObservedOnce) {
  std::vector<std::string> expected;
  for (const Step& step : plan(Fusions::all()).steps) {
    for (const SlotUse& use : slot_uses(step.body)) {
      if (use.is_output()) expected.push_back(step.name + " " + plan(Fusions::all()).slot(use.slot).name);
    }
  }
  EXPECT_EQ(std::ranges::count(expected, "blk.7.attn_qkv q"), 1);
  EXPECT_EQ(run_ref(Fusions::all()).slots, expected);
  EXPECT_EQ(run_cpu(Fusions::all()).slots, expected);
}

TEST_F(FusedPlan, FloatActivationsGiveTheSameBitsToo) {
  conform::FloatModel model;
  const auto logits = [&](Fusions fuse) {
    const Plan plan = make_plan(model.config, model.weights, {.fuse = fuse});
    return run(*cpu::compile(plan, kOptions, pool_).value()).logits;
  };
  const auto expected = logits({.int8_blocks = true});
  ASSERT_EQ(expected.size(), static_cast<size_t>(kTokens) * 8192);
  EXPECT_EQ(logits(Fusions::host()), expected);
  const auto plain = logits(Fusions::none());  // without int8 blocks
  EXPECT_EQ(logits(Fusions::all()), plain);
  EXPECT_EQ(logits({.qkv = true}), plain);
  EXPECT_EQ(logits({.qkv = true, .heads = true}), plain);
}

TEST_F(FusedPlan, RecurrentLayersGiveTheSameBitsToo) {
  for (const auto only : {std::optional<Format>(), std::optional(Format::kF32)}) {
    conform::DeltaModel model(only);
    const auto run_with = [&](Fusions fuse) {
      const Plan plan = make_plan(model.config, model.weights, {.fuse = fuse});
      return run(*cpu::compile(plan, kOptions, pool_).value()).logits;
    };
    const auto plain = run_with(Fusions::none());
    EXPECT_EQ(run_with({.delta = true}), plain);
    EXPECT_EQ(run_with(Fusions::all()), plain);
    const Plan all = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
    const auto makes_gates = [](const Step& step) {
      const auto* qkv = std::get_if<step::FloatQkv>(&step.body);
      return qkv && qkv->heads.is_gated();
    };
    EXPECT_EQ(std::ranges::count_if(all.steps, makes_gates), 1);
  }
}

}  // namespace
}  // namespace tern
