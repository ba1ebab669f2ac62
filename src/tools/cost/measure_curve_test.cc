// Measures a scripted backend whose time and joules follow a formula, and expects that formula back.
#include "tools/cost/measure_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backend/fake/fake_backend.h"
#include "routing/cost_curve.h"

namespace tern {
namespace {

// The time that the executable would have taken for everything in its log.
class Formula {
 public:
  double setup = 0;  // of the first pass
  double token = 0;  // per token of a longer prompt
  double step = 0;   // per pass
  double context_token = 0;
  double row = 0;     // per reply
  double waited = 0;  // outside the executable

  explicit Formula(const fake::Log& log) : log_(log) {}

  double seconds() {
    for (; counted_ < log_.calls.size(); ++counted_) {
      const fake::Log::Call& call = log_.calls[counted_];
      if (call.batch != last_batch_ || counted_ == 0) sum_ += step;
      if (counted_ == 0) sum_ += setup;
      last_batch_ = call.batch;
      sum_ += row + (call.tokens.size() > 1 ? token * static_cast<double>(call.tokens.size()) : 0) +
              context_token * call.first_pos;
    }
    double streamed = 0;
    for (const fake::Log::Stream& stream : log_.streams) {
      for (int i = 0; i < stream.n_taken; ++i) {
        streamed += step / stream.together + row + context_token * (stream.pos + i);
      }
    }
    return sum_ + streamed + waited;
  }

 private:
  const fake::Log& log_;
  size_t counted_ = 0;
  int last_batch_ = -1;
  double sum_ = 0;
};

// Draws five watts by the formula's clock. Reading number `fails_at` fails.
class FiveWatts final : public EnergyReader {
 public:
  explicit FiveWatts(Formula& formula, int fails_at = -1) : formula_(formula), fails_at_(fails_at) {}
  Result<double> joules() override {
    if (n_++ == fails_at_) return fail(ErrorCode::kIo, "the counter is gone");
    formula_.waited += seconds_to_read;
    const double seconds = formula_.seconds() - formula_.waited;
    return 5 * (updates > 0.001 ? std::floor(seconds / updates) * updates : seconds);
  }
  std::string source() const override { return "five watts"; }

  double seconds_between_updates() const override { return updates; }

  double seconds_to_read = 0;
  double updates = 0.001;  // seconds between counter updates; readings return the last update

 private:
  Formula& formula_;
  int fails_at_;
  int n_ = 0;
};

class MeasureCosts : public testing::Test {
 protected:
  MeasureCosts() : formula_(log_) {
    formula_.setup = 2;
    formula_.token = 0.001;
    formula_.step = 0.01;
    formula_.context_token = 1e-6;
    formula_.row = 0.001;
  }
  fake::Script script() const {
    return {.n_vocab = 16, .next = {1}, .max_batch = 32, .max_logit_rows = 16, .max_slices = 16, .block_tokens = 64};
  }
  Result<MeasuredCosts> measure(const fake::Script& script, MeasureOptions options = {}) {
    executable_ = fake::make_executable(script, log_);
    options.n_vocab = 16;
    if (options.n_ctx == 0) options.n_ctx = 1024;
    options.seconds = [this] { return formula_.seconds(); };
    return measure_costs(*executable_, options);
  }

  fake::Log log_;
  Formula formula_;
  std::unique_ptr<Executable> executable_;
};

TEST_F(MeasureCosts, FindsTheFormula) {
  const MeasuredCosts costs = measure(script(), {.budget = 1000}).value();
  EXPECT_NEAR(costs.first_pass_seconds, 2, 1e-9);
  ASSERT_EQ(costs.prompt.back().tokens, 1024);
  EXPECT_NEAR(costs.prompt.front().cost.seconds, 0.011, 1e-9);
  EXPECT_NEAR(prompt_cost(costs.prompt, 24).seconds, 0.01 + 0.001 + 0.024, 1e-6) << "a pass of 24 tokens";
  // 16 passes of 32 tokens, after 0, 32, 64, … earlier tokens.
  EXPECT_NEAR(prompt_cost(costs.prompt, 512).seconds, 16 * 0.011 + 0.512 + 1e-6 * 32 * 120, 1e-6);
  ASSERT_EQ(costs.steps.size(), 3u);
  for (const int replies : {1, 4, 16}) {
    for (const int context : {100, 200}) {
      EXPECT_NEAR(step_cost(costs.steps, replies, context).seconds, 0.01 + replies * (0.001 + 1e-6 * context), 1e-5)
          << replies << " replies after " << context;
    }
  }
  EXPECT_NEAR(step_cost(costs.steps, 1, 900).seconds, 0.011 + 9e-4, 1e-5);
  EXPECT_EQ(log_.n_blocks, 0) << "all memory is given back";
}

TEST_F(MeasureCosts, FindsItInStreams) {
  fake::Script streams = script();
  streams.decodes = true;
  const MeasuredCosts costs = measure(streams, {.budget = 1000}).value();
  ASSERT_FALSE(log_.streams.empty());
  for (const int replies : {1, 4, 16}) {
    EXPECT_NEAR(step_cost(costs.steps, replies, 100).seconds, 0.01 + replies * (0.001 + 1e-4), 1e-5) << replies;
  }
  EXPECT_EQ(log_.n_live_streams, 0);
}

TEST_F(MeasureCosts, KeepsToItsTime) {
  formula_.token = 0.01;
  const MeasuredCosts costs = measure(script(), {.budget = 7}).value();
  EXPECT_LT(formula_.seconds() - 2, 9);
  EXPECT_GE(costs.prompt.size(), 4u);
  EXPECT_LT(costs.prompt.back().tokens, 1024);
  EXPECT_NEAR(prompt_cost(costs.prompt, 1024).seconds, 10.24 + 32 * 0.011, 0.6) << "the rest is concluded";
  formula_.step = 3;
  EXPECT_FALSE(measure(script(), {.budget = 7}).value().steps.empty()) << "one figure there is, however slow";
}

TEST_F(MeasureCosts, JoulesAreThoseBetweenTheReadings) {
  FiveWatts watts(formula_);
  const MeasuredCosts costs = measure(script(), {.budget = 1000, .energy = &watts}).value();
  for (const CurvePoint& point : costs.prompt) EXPECT_NEAR(point.cost.joules.value(), 5 * point.cost.seconds, 1e-9);
  for (const StepCurve& curve : costs.steps) {
    for (const CurvePoint& point : curve.points) EXPECT_NEAR(point.cost.joules.value(), 5 * point.cost.seconds, 1e-9);
  }
  EXPECT_EQ(costs.energy_reason, "");
}

TEST_F(MeasureCosts, ReadingACounterIsNoPartOfAnyCost) {
  FiveWatts watts(formula_);
  watts.seconds_to_read = 0.003;
  const MeasuredCosts costs = measure(script(), {.budget = 1e6, .energy = &watts}).value();
  EXPECT_NEAR(costs.prompt.front().cost.seconds, 0.011, 1e-9);
  EXPECT_NEAR(prompt_cost(costs.prompt, 24).seconds, 0.01 + 0.001 + 0.024, 1e-6);
  EXPECT_NEAR(step_cost(costs.steps, 1, 900).seconds, 0.011 + 9e-4, 1e-5);
}

TEST_F(MeasureCosts, ACounterThatSeldomMovesIsWaitedFor) {
  FiveWatts watts(formula_);
  watts.updates = 0.1;
  const MeasuredCosts costs = measure(script(), {.budget = 1e6, .energy = &watts}).value();
  const auto is_right = [](const CurvePoint& point) {
    EXPECT_NEAR(point.cost.joules.value() / point.cost.seconds, 5, 5 * 0.34) << point.tokens;
  };
  for (const CurvePoint& point : costs.prompt) is_right(point);
  for (const StepCurve& curve : costs.steps) std::ranges::for_each(curve.points, is_right);
}

TEST_F(MeasureCosts, ACounterThatFailsIsGivenUp) {
  FiveWatts watts(formula_, 9);
  const MeasuredCosts costs = measure(script(), {.budget = 1000, .energy = &watts}).value();
  EXPECT_EQ(costs.energy_reason, "the counter is gone");
  EXPECT_EQ(costs.prompt.back().tokens, 1024);
  for (const CurvePoint& point : costs.prompt) EXPECT_FALSE(point.cost.joules) << "some of them would be no use";
}

TEST_F(MeasureCosts, ShortContextsAndOneReply) {
  fake::Script one = script();
  one.max_slices = 1;
  const MeasuredCosts costs = measure(one, {.n_ctx = 8, .budget = 1000}).value();
  EXPECT_EQ(costs.steps.size(), 1u);
  EXPECT_EQ(costs.prompt.back().tokens, 8);
  EXPECT_EQ(measure(one, {.n_ctx = 7}).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(MeasureCosts, WithoutMemoryForManyRepliesThereIsOne) {
  fake::Script little = script();
  little.most_ctx = 600;
  const MeasuredCosts costs = measure(little, {.n_ctx = 512, .budget = 1000}).value();
  ASSERT_EQ(costs.steps.size(), 2u) << "16 blocks do not fit";
  EXPECT_EQ(costs.steps[1].points.size(), 1u) << "nor do four replies of 306 tokens";
  EXPECT_EQ(costs.steps[0].points.size(), 3u);
  const MeasuredCosts of_long_context = measure(little, {.n_ctx = 1024, .budget = 1000}).value();
  EXPECT_EQ(of_long_context.prompt.back().tokens, 512) << "as long as there is memory for";
  EXPECT_EQ(of_long_context.steps[0].points.size(), 2u);
}

TEST_F(MeasureCosts, ALostDeviceIsAnError) {
  fake::Script lost = script();
  lost.fail_at_pos = 100;
  EXPECT_EQ(measure(lost).error().code, ErrorCode::kDeviceLost);
}

}  // namespace
}  // namespace tern
