#include "routing/cost_curve.h"

#include <gtest/gtest.h>

#include <limits>

#include "routing/routing_test_support.h"

namespace tern {
namespace {

using routing_test::linear_curve;

const std::vector<CurvePoint> kPrompt = {{2, {.seconds = 4, .joules = 8}}, {10, {.seconds = 12, .joules = 40}}};
const std::vector<CurvePoint> kStep = {{10, {.seconds = 3}}, {20, {.seconds = 5}}, {30, {.seconds = 4}}};

TEST(PromptCost, IsLinearBetweenPointsAndGoesOn) {
  EXPECT_DOUBLE_EQ(prompt_cost(kPrompt, 2).seconds, 4);
  EXPECT_DOUBLE_EQ(prompt_cost(kPrompt, 6).seconds, 8);
  EXPECT_DOUBLE_EQ(*prompt_cost(kPrompt, 6).joules, 24);
  EXPECT_DOUBLE_EQ(prompt_cost(kPrompt, 10).seconds, 12);
  EXPECT_DOUBLE_EQ(prompt_cost(kPrompt, 110).seconds, 112);
  EXPECT_DOUBLE_EQ(prompt_cost(kPrompt, 1).seconds, 2) << "below the first point in proportion";
  EXPECT_DOUBLE_EQ(prompt_cost(std::span(kPrompt).first(1), 100).seconds, 200);
}

TEST(StepCost, BeyondThePointsItIsNeverLess) {
  EXPECT_DOUBLE_EQ(step_cost(kStep, 0).seconds, 3);
  EXPECT_DOUBLE_EQ(step_cost(kStep, 15).seconds, 4);
  EXPECT_DOUBLE_EQ(step_cost(kStep, 25).seconds, 4.5);
  EXPECT_DOUBLE_EQ(step_cost(kStep, 1000).seconds, 4) << "not less and less, though the last two points fall";
  EXPECT_DOUBLE_EQ(step_cost(std::span(kStep).first(2), 40).seconds, 9);
  EXPECT_FALSE(step_cost(kStep, 15).joules);
}

TEST(StepCost, OfSeveralReplies) {
  const std::vector<StepCurve> steps = {{.replies = 1, .points = {{0, {.seconds = 2}}}},
                                        {.replies = 5, .points = {{0, {.seconds = 4}}}}};
  EXPECT_DOUBLE_EQ(step_cost(steps, 1, 7).seconds, 2);
  EXPECT_DOUBLE_EQ(step_cost(steps, 3, 7).seconds, 3);
  EXPECT_DOUBLE_EQ(step_cost(steps, 5, 7).seconds, 4);
  EXPECT_DOUBLE_EQ(step_cost(steps, 9, 7).seconds, 6);
  EXPECT_DOUBLE_EQ(step_cost(std::span(steps).first(1), 9, 7).seconds, 18) << "in turns, where nothing else is known";
}

TEST(Predict, AddsUp) {
  const CostCurve curve = linear_curve(
      BackendKind::kCpu, {.setup = 3, .prompt_token = 0.5, .step = 2, .context_token = 0.125, .watts = 10});
  ExpectedJob job{.n_prompt = 100, .n_generate = 4};
  JobCost cost = predict(curve, job);
  EXPECT_NEAR(cost.prompt.seconds, 50, 1e-9);
  EXPECT_NEAR(cost.decode.seconds, 3 * 2 + 0.125 * (100 + 101 + 102), 1e-9) << "the first token is the prompt's";
  EXPECT_NEAR(cost.total.seconds, 50 + 43.875, 1e-9);
  EXPECT_NEAR(*cost.total.joules, 938.75, 1e-9);
  job.counts_setup = true;
  EXPECT_NEAR(predict(curve, job).total.seconds, 96.875, 1e-9);
  EXPECT_NEAR(*predict(curve, job).total.joules, 968.75, 1e-9);
  job.n_parallel = 8;
  cost = predict(curve, job);
  EXPECT_NEAR(cost.prompt.seconds, 400, 1e-9);
  EXPECT_NEAR(cost.decode.seconds, 2 * 43.875, 1e-9);
  EXPECT_DOUBLE_EQ(predict(curve, {.n_prompt = 5, .n_generate = 1}).decode.seconds, 0);
}

// Keys and values move in whole blocks: a prompt of one token costs as much as one of a block.
TEST(Predict, MovesWholeBlocks) {
  CostCurve reader = linear_curve(BackendKind::kCpu, {.prompt_token = 1, .step = 1}), writer = reader;
  reader.kv_out_seconds = 0.25, writer.kv_in_seconds = 0.5;
  const std::vector<CostCurve> both = {reader, writer};
  const auto seconds = [&](int n_prompt) {
    return predict(both, {.reads = 0, .writes = 1}, {.n_prompt = n_prompt, .n_generate = 2}).moving.seconds;
  };
  const double block = seconds(1);
  const int tokens = static_cast<int>(block / 0.75);
  EXPECT_GT(tokens, 1);
  EXPECT_DOUBLE_EQ(block, 0.75 * tokens);
  EXPECT_DOUBLE_EQ(seconds(tokens), block);
  EXPECT_DOUBLE_EQ(seconds(tokens + 1), 2 * block);
  EXPECT_DOUBLE_EQ(seconds(2 * tokens), 2 * block);
  EXPECT_DOUBLE_EQ(seconds(2 * tokens + 1), 3 * block);
}

TEST(Predict, JoulesAreKnownOrNot) {
  CostCurve curve = linear_curve(BackendKind::kCpu, {.prompt_token = 1, .step = 1});
  EXPECT_FALSE(predict(curve, {}).total.joules);
  curve = linear_curve(BackendKind::kCpu, {.prompt_token = 1, .step = 1, .watts = 5});
  EXPECT_TRUE(predict(curve, {}).total.joules);
  curve.steps[0].points[2].cost.joules.reset();
  EXPECT_FALSE(predict(curve, {}).total.joules) << "part of a sum is no sum";
}

TEST(CheckCurve, RefusesWhatIsNone) {
  const CostCurve right = linear_curve(BackendKind::kCpu, {.prompt_token = 1, .step = 1, .watts = 1});
  EXPECT_TRUE(check_curve(right));
  const auto refuses = [&](auto change) {
    CostCurve curve = right;
    change(curve);
    const auto checked = check_curve(curve);
    return !checked && checked.error().code == ErrorCode::kCorruption;
  };
  EXPECT_TRUE(refuses([](CostCurve& c) { c.prompt.clear(); }));
  EXPECT_TRUE(refuses([](CostCurve& c) { c.prompt[0].tokens = 0; })) << "a prompt has a token";
  EXPECT_TRUE(refuses([](CostCurve& c) { c.prompt[1].tokens = 1; }));
  EXPECT_TRUE(refuses([](CostCurve& c) { c.setup.seconds = -1; }));
  EXPECT_TRUE(refuses([](CostCurve& c) { c.prompt[2].cost.seconds = std::numeric_limits<double>::infinity(); }));
  EXPECT_TRUE(
      refuses([](CostCurve& c) { c.steps[0].points[0].cost.joules = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_TRUE(refuses([](CostCurve& c) { c.steps.clear(); }));
  EXPECT_TRUE(refuses([](CostCurve& c) { c.steps[1].points.clear(); }));
  EXPECT_TRUE(refuses([](CostCurve& c) { c.steps[1].replies = 1; }));
  EXPECT_TRUE(refuses([](CostCurve& c) { c.steps[0].replies = 0; }));
}

}  // namespace
}  // namespace tern
