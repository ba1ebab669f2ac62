// Whole plans, fused and not: the same bits on every host backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "backend/cpu/cpu_backend.h"
#include "backend/ref/ref_backend.h"
#include "conform/matrix.h"
#include "model/model.h"

namespace tern {
namespace {

constexpr int kTokens = 5;
const CompileOptions kOptions = {.n_threads = 2, .max_batch = 3, .max_logit_rows = 3};

struct Outcome {
  std::vector<float> logits;       // [kTokens, n_vocab]
  std::vector<std::string> slots;  // "step slot", as observed in the last batch
};

// Five tokens in two batches, the second of which reads what the first left in the cache.
Outcome run(Executable& executable) {
  const std::vector<TokenId> tokens = {1, 700, 42, 8000, 5};
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

  const Model model_ = open_model(TERN_SOURCE_DIR "/models/tern-stories.gguf").value();
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

// A backend with a kernel for the fused step reports it once, by its query; so do those that run it in parts.
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

// A model with float activations: one layer of Qwen3, packed weights.
struct FloatModel {
  Tensor matrix(Format format, int rows, int cols) {
    matrices.push_back(std::make_unique<conform::Matrix>(format, rows, cols, ++seed));
    matrices.back()->tensor.scale = 0.05f;
    return matrices.back()->tensor;
  }
  uint64_t seed = 0;
  std::vector<std::unique_ptr<conform::Matrix>> matrices;
  Config config = {.architecture = "qwen3",
                   .family = Family::kQwen3,
                   .n_layers = 1,
                   .d_model = 256,
                   .n_heads = 4,
                   .n_kv_heads = 2,
                   .head_dim = 64,
                   .d_ff = 512,
                   .n_vocab = 8192,
                   .n_ctx = 16,
                   .rms_eps = 1e-6f,
                   .rope_theta = 1e6f,
                   .glu_act = GluAct::kSilu,
                   .int8_activations = false};
  Weights weights = [this] {
    Weights w;
    w.token_embd = matrix(Format::kQ8_0, 8192, 256);
    Layer l;
    l.attn_norm = matrix(Format::kF32, 1, 256);
    l.attn_q = matrix(Format::kQ1_0, 256, 256);
    l.attn_k = matrix(Format::kQ4_0, 128, 256);
    l.attn_v = matrix(Format::kF16, 128, 256);
    l.attn_q_norm = matrix(Format::kF32, 1, 64);
    l.attn_k_norm = matrix(Format::kF32, 1, 64);
    l.attn_output = matrix(Format::kTQ1_0, 256, 256);
    l.ffn_norm = matrix(Format::kF32, 1, 256);
    l.ffn_gate = matrix(Format::kQ2_0, 512, 256);
    l.ffn_up = matrix(Format::kQ6_K, 512, 256);
    l.ffn_down = matrix(Format::kPQ2_0, 256, 512);
    w.layers.push_back(std::move(l));
    w.output_norm = matrix(Format::kF32, 1, 256);
    w.output = w.token_embd;
    return w;
  }();
};

TEST_F(FusedPlan, FloatActivationsGiveTheSameBitsToo) {
  FloatModel model;
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

}  // namespace
}  // namespace tern
