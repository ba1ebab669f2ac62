#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/kv_cache.h"
#include "engine/engine_impl.h"
#include "engine/load/backends.h"
#include "support/checkout.h"
#include "tools/tools_test_support.h"
#include "tools/validate/step_comparison.h"
#include "tools/validate/token_comparison.h"
#include "tools/validate/verdict.h"

namespace tern {
namespace {

void expect_agreement(const ValidateResult& result) {
  EXPECT_TRUE(result.passed) << result.verdict;
  EXPECT_TRUE(result.same_top1);
  EXPECT_TRUE(result.cached_same_top1);
  EXPECT_LT(result.logits_nmse, 1e-3);
  EXPECT_GT(result.logits_cosine, 0.999);
  EXPECT_GT(result.cached_cosine, 0.9999);
  for (const LayerDifference& layer : result.layers) EXPECT_LT(layer.nmse, 1e-3) << layer.step;
}

TEST(Validate, TheDefaultModelPasses) {
  uint64_t reference_steps = 0, cached_steps = 0;
  const auto result = validate({.model_path = kDefaultModel, .n_threads = 2},
                               {.n_decode = 4, .on_progress = [&](const Progress& p) {
                                  (p.what == "running the reference" ? reference_steps : cached_steps) = p.done;
                                }});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  expect_agreement(*result);
  // 21 of a layer's 22 steps write a slot (kv_append does not), and four lie outside the layers.
  EXPECT_EQ(result->layers.size(), 10u * 21 + 4);
  EXPECT_TRUE(std::ranges::contains(result->layers, "blk.3.attn_output", &LayerDifference::step));
  EXPECT_EQ(reference_steps, 2 * 3 * result->layers.size());  // two runs of 24 tokens in batches of 8
  EXPECT_EQ(cached_steps, 4u);
  EXPECT_GT(result->rounding_nmse, 0);
  EXPECT_TRUE(result->verdict.starts_with("passed: cpu (")) << result->verdict;
}

TEST(Validate, ARandomModelWithoutTokenizerPasses) {
  const SynthModel file;
  const auto result = validate({.model_path = file.str(), .n_threads = 1}, {.n_decode = 16});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  expect_agreement(*result);
}

TEST(Validate, SmallBatchesAndOneToken) {
  const SynthModel file;
  for (const std::vector<TokenId>& tokens : {std::vector<TokenId>{5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}) {
    const auto result =
        validate({.model_path = file.str(), .n_threads = 1, .max_batch = 3}, {.tokens = tokens, .n_decode = 99});
    ASSERT_TRUE(result.has_value()) << result.error().message;
    expect_agreement(*result);
  }
}

TEST(Validate, TheReferenceAgreesWithItselfExactly) {
  const SynthModel file;
  const auto result =
      validate({.model_path = file.str(), .backend = BackendKind::kRef}, {.tokens = {1, 2, 3}, .n_decode = 2});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_TRUE(result->passed);
  EXPECT_EQ(result->logits_nmse, 0);
  for (const LayerDifference& layer : result->layers) EXPECT_EQ(layer.max_abs, 0) << layer.step;
}

// The int8 blocks that a CPU's layers of packed weights read are a part of the layers (docs/numerics.md): what remains
// is rounding, and fusing the other steps changes no bit. A deep model with such weights would differ by more than 1e-3
// from a reference that keeps floats.
TEST(Validate, Int8BlocksAreNoDifference) {
  const SynthModel file({.preset = "tiny-phi3", .type = "q4_0"});
  const LoadOptions load{.model_path = file.str(), .backend = BackendKind::kCpu, .n_threads = 2};
  const auto result = validate(load, {.n_decode = 4});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_TRUE(result->passed) << result->verdict;
  EXPECT_TRUE(std::ranges::contains(result->layers, "blk.0.attn_q in", &LayerDifference::step));
  EXPECT_GT(result->rounding_nmse, 1e-9);
  EXPECT_LT(result->logits_nmse, 1e-3);
  LoadOptions floats = load;
  floats.fuse = false;
  const auto without = validate(floats, {.n_decode = 4});
  ASSERT_TRUE(without.has_value()) << without.error().message;
  EXPECT_LT(without->logits_nmse, 1e-6);
  EXPECT_LT(without->layers.size(), result->layers.size());

  const Engine engine = Engine::load(load).value();
  Engine::Impl& impl = EngineAccess::impl(engine);
  const Plan plan = make_plan(impl.model.config, impl.model.weights, {.fuse = {.int8_blocks = true}});
  const auto separate = compile_on(BackendKind::kCpu, plan, {}, *impl.pool).value();
  const std::vector<TokenId> tokens = {1, 2, 3, 4, 5};
  std::vector<std::vector<float>> logits;
  for (Executable* executable : {impl.executable.get(), separate.get()}) {
    const auto cache = executable->new_cache(5, KvType::kF16).value();
    const auto row = executable->run(*cache, {.tokens = tokens, .logits = WantLogits::kLast}).value();
    logits.emplace_back(row.begin(), row.end());
  }
  EXPECT_EQ(logits[0], logits[1]);
}

// A GPU computes batches of eight tokens with floats here and single tokens with int8 blocks, so the differences of the
// former say little of the choices of the latter.
TEST(Validate, AGpuThatMakesInt8BlocksForSingleTokensPasses) {
  const SynthModel file({.preset = "tiny-qwen3", .tokenizer = "bytes"});
  const auto result = validate({.model_path = file.str(), .backend = BackendKind::kWebGpu}, {.n_decode = 4});
  if (!result) GTEST_SKIP() << result.error().message;
  EXPECT_TRUE(result->passed) << result->verdict;
  EXPECT_EQ(result->n_tokens, 200);
  EXPECT_LT(result->largest_lead, 0.1);
}

// Runs on the CPU, and on a GPU with its default kernels and with those that every GPU supports.
TEST(Validate, LayersWithDifferentHeadsPass) {
  const std::string path = source_path("tests/golden/families/llama_layer_heads.gguf");
  const LoadOptions cpu{.model_path = path, .backend = BackendKind::kCpu, .n_threads = 2};
  LoadOptions gpu = cpu, gpu_parallel = cpu;
  gpu.backend = gpu_parallel.backend = BackendKind::kWebGpu;
  gpu_parallel.gpu.without = {"serial"};
  for (const LoadOptions& load : {cpu, gpu, gpu_parallel}) {
    const auto result = validate(load, {.tokens = {0, 5, 17, 5, 59, 3, 3, 40, 11}, .n_decode = 12});
    if (!result && load.backend == BackendKind::kWebGpu) GTEST_SKIP() << result.error().message;
    ASSERT_TRUE(result.has_value()) << result.error().message;
    expect_agreement(*result);
  }
}

// In a float model the f16 cache is by far the coarsest rounding. If one of the four runs used the wrong cache type,
// all would differ by about as much as the two references.
TEST(Validate, RunsWithTheCacheThatIsAskedFor) {
  const std::string path = source_path("tests/golden/families/qwen3_tied.gguf");
  const LoadOptions load{.model_path = path, .backend = BackendKind::kCpu, .n_threads = 1};
  for (const KvType kv_type : {KvType::kF16, KvType::kF32}) {
    const auto result = validate(load, {.tokens = {1, 2, 3, 4, 5, 6, 7, 8}, .n_decode = 4, .kv_type = kv_type});
    ASSERT_TRUE(result.has_value()) << result.error().message;
    EXPECT_TRUE(result->passed) << result->verdict;
    EXPECT_GT(result->rounding_nmse, 1e-9);
    EXPECT_LT(result->logits_nmse, 0.01 * result->rounding_nmse);
    for (const LayerDifference& layer : result->layers) {
      EXPECT_LE(layer.nmse, std::max(1e-12, 0.01 * layer.rounding_nmse)) << layer.step;
    }
  }
}

TEST(Validate, Refusals) {
  const SynthModel file;
  const LoadOptions load = {.model_path = file.str(), .n_threads = 1};
  EXPECT_EQ(validate(load, {.tokens = {1, 320}, .n_decode = 1}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(validate(load, {.tokens = {-1}, .n_decode = 1}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(validate(load, {.tokens = std::vector<TokenId>(257, 1), .n_decode = 1}).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(validate(load, {.tokens = {1}, .n_decode = -1}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(validate(load, {.tokens = {1}, .n_tokens = -1}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(validate({.model_path = "/nowhere.gguf"}, {}).error().code, ErrorCode::kNotFound);
}

TEST(StepDifferences, FindsTheStepThatDiffers) {
  const Step first{"a", step::Add{}}, second{"b", step::Quantize{}};
  const Slot slot;
  StepRecord record;
  StepDifferences differences(record);
  const auto reference = record.observer(), other = differences.observer();
  const std::vector<float> x = {1, 2}, wrong = {1, 4};
  const std::vector<float> scales = {2};
  for (int batch = 0; batch < 2; ++batch) {
    record.begin_batch();
    reference({.step = &first, .slot = &slot, .rows = 1, .values = x, .scales = {}, .sums = {}});
    reference({.step = &second, .slot = &slot, .rows = 1, .values = x, .scales = scales, .sums = {}});
    differences.begin_batch();
    other({.step = &first, .slot = &slot, .rows = 1, .values = x, .scales = {}, .sums = {}});
    other({.step = &second, .slot = &slot, .rows = 1, .values = wrong, .scales = scales, .sums = {}});
  }
  ASSERT_EQ(differences.entries().size(), 2u);
  EXPECT_EQ(differences.entries()[0].difference.nmse(), 0);
  EXPECT_EQ(differences.entries()[1].step, "b");
  // int8 rows are compared by the values they represent: 4/2 against 2/2.
  EXPECT_DOUBLE_EQ(differences.entries()[1].difference.max_abs(), 1);
  EXPECT_DOUBLE_EQ(differences.entries()[1].difference.nmse(), 1 / 1.25);
}

// The reference runs a fused step in parts, but reports the outputs of the fused step.
TEST(StepDifferences, PairsTheStepsOfAFusedPlan) {
  const Engine engine = Engine::load({.model_path = kDefaultModel, .n_threads = 2}).value();
  Engine::Impl& impl = EngineAccess::impl(engine);
  const Plan plan = make_plan(impl.model.config, impl.model.weights, {.fuse = Fusions::all()});
  const auto ref = compile_on(BackendKind::kRef, plan, {}, *impl.pool).value();
  const auto cpu = compile_on(BackendKind::kCpu, plan, {}, *impl.pool).value();
  StepRecord record;
  StepDifferences differences(record);
  const std::vector<TokenId> tokens = {1, 2, 3};
  const auto run = [&](Executable& executable, StepObserver observer) {
    const auto cache = executable.new_cache(3, KvType::kF16).value();
    executable.observe(std::move(observer));
    ASSERT_TRUE(executable.run(*cache, {.tokens = tokens, .logits = WantLogits::kAll}));
  };
  record.begin_batch();
  run(*ref, record.observer());
  differences.begin_batch();
  run(*cpu, differences.observer());
  ASSERT_EQ(differences.entries().size(), plan.steps.size());
  EXPECT_TRUE(std::ranges::contains(differences.entries(), "blk.9.attn_qkv", &StepDifferences::Entry::step));
  for (const auto& [step, difference] : differences.entries()) EXPECT_LT(difference.nmse(), 1e-3) << step;
}

class Verdict : public testing::Test {
 protected:
  ValidateResult result_{.layers = {{.step = "a", .nmse = 1e-8}, {.step = "b", .nmse = 1e-6}},
                         .logits_nmse = 1e-6,
                         .logits_cosine = 1,
                         .same_top1 = true,
                         .cached_cosine = 1,
                         .cached_same_top1 = true,
                         .passed = false,
                         .verdict = {}};
  std::string judged() {
    judge(result_, run_);
    return result_.verdict;
  }
  WhatWasRun run_{.backend = "cpu", .n_reference = 8, .n_decode = 4};
};

TEST_F(Verdict, Passes) {
  EXPECT_EQ(judged(), "passed: cpu agrees with the reference on 8 tokens, and 4 cached steps with full passes");
  EXPECT_TRUE(result_.passed);
}

TEST_F(Verdict, NamesTheFirstWrongStep) {
  result_.layers[1].nmse = 0.5;
  result_.logits_nmse = 0.9;
  EXPECT_EQ(judged(), "failed: cpu differs from the reference, first at step b (NMSE 5.0e-01, rounding makes 0.0e+00)");
  EXPECT_FALSE(result_.passed);
}

TEST_F(Verdict, AModelThatRoundingChangesMuchMayDiffer) {
  result_.layers[1].nmse = result_.logits_nmse = 3e-3;
  result_.cached_cosine = 0.999;
  judged();
  EXPECT_FALSE(result_.passed);
  result_.layers[1].rounding_nmse = result_.rounding_nmse = 2e-3;
  judged();
  EXPECT_TRUE(result_.passed);
  result_.layers[1].nmse = 9e-3;
  judged();
  EXPECT_FALSE(result_.passed);
}

TEST_F(Verdict, BlamesFusionWhereTheStepsAgree) {
  result_.logits_nmse = 0.9;
  EXPECT_NE(judged().find("fused plan"), std::string::npos);
  EXPECT_FALSE(result_.passed);
}

TEST_F(Verdict, BlamesTheCache) {
  result_.cached_cosine = 0.99;
  EXPECT_NE(judged().find("cached decoding differs"), std::string::npos);
  EXPECT_FALSE(result_.passed);
}

TEST_F(Verdict, TokensMayDifferAtNearTiesOnly) {
  result_.logits_nmse = 1e-6;
  result_.n_tokens = 200;
  result_.n_other_tokens = 1;
  result_.first_other_token = 104;
  result_.first_lead = 0.02;
  result_.largest_lead = 0.005;
  judged();
  EXPECT_TRUE(result_.passed);
  result_.largest_lead = 0.5;
  result_.first_lead = 2;
  EXPECT_EQ(
      judged(),
      "failed: cpu chooses other tokens than the CPU, first at step 104, where the CPU's logits prefer another by "
      "2.000");
  EXPECT_FALSE(result_.passed);
}

// Two computations may choose different experts, which changes a row as a whole.
TEST_F(Verdict, AFewTokensOfMixturesOfExpertsMayDiffer) {
  result_.n_tokens = 200;
  result_.n_other_tokens = 50;
  result_.first_other_token = 38;
  result_.first_lead = 0.3;
  result_.largest_lead = 1.3;
  judged();
  EXPECT_FALSE(result_.passed);
  run_.has_experts = true;
  EXPECT_NE(judged().find("it chooses others: 50 of 200 tokens differ"), std::string::npos);
  EXPECT_TRUE(result_.passed);
  result_.n_other_tokens = 51;
  judged();
  EXPECT_FALSE(result_.passed);
  result_.n_other_tokens = 1;
  result_.largest_lead = NAN;
  judged();
  EXPECT_FALSE(result_.passed);
}

TEST(CompareTokens, TheCpuAgreesWithItself) {
  const Engine engine =
      Engine::load({.model_path = kDefaultModel, .backend = BackendKind::kCpu, .n_threads = 2}).value();
  const auto prompt = engine.tokenizer().encode("Once upon a time");
  ValidateResult result;
  uint64_t done = 0;
  ASSERT_TRUE(compare_tokens(engine, prompt, 20, {.on_progress = [&](const Progress& p) { done = p.done; }}, result));
  EXPECT_EQ(result.n_tokens, 20);
  EXPECT_EQ(result.n_other_tokens, 0);
  EXPECT_EQ(result.first_other_token, -1);
  EXPECT_EQ(done, prompt.size() + 19);
}

// Greedy choices of ref, whose logits differ from the CPU's in the last bits.
TEST(CompareTokens, AnotherBackendPartsAtNearTies) {
  const SynthModel file;
  const Engine engine = Engine::load({.model_path = file.str(), .backend = BackendKind::kRef}).value();
  ValidateResult result;
  ASSERT_TRUE(compare_tokens(engine, std::vector<TokenId>{1, 2, 3}, 40, {}, result));
  EXPECT_EQ(result.n_tokens, 40);
  EXPECT_LT(result.largest_lead, 0.1);
}

TEST_F(Verdict, NanFails) {
  result_.logits_nmse = std::numeric_limits<double>::quiet_NaN();
  judged();
  EXPECT_FALSE(result_.passed);
  result_.logits_nmse = 0;
  result_.cached_cosine = std::numeric_limits<double>::quiet_NaN();
  judged();
  EXPECT_FALSE(result_.passed);
  result_.cached_cosine = 1;
  result_.layers[0].nmse = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(judged().find("step a"), std::string::npos);
  EXPECT_FALSE(result_.passed);
}

}  // namespace
}  // namespace tern
