// Measures a model's costs on this machine, stored in a folder of the test.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "routing/cost_curve.h"
#include "routing/curve_file.h"
#include "tern/routing.h"
#include "tools/tools_test_support.h"

namespace tern {
namespace {

class Curves : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_.str()); }
  CurveOptions options() const {
    CurveOptions options{.folder = folder_.str()};
    options.load = {.model_path = model_.str(), .n_threads = 1};
    return options;
  }

  SynthModel model_;
  TemporaryPath folder_{"-curves"};
};

TEST_F(Curves, TheCpuHasOneWhichIsKept) {
  const CurveSet first = cost_curves(options()).value();
  ASSERT_GE(first.curves.size(), 1u);
  EXPECT_EQ(first.curves.size() + first.left_out.size(), 2u) << "the GPU has one, too, or a reason";
  const CostCurve& cpu = first.curves.front();
  EXPECT_EQ(cpu.backend, BackendKind::kCpu);
  EXPECT_TRUE(cpu.device.starts_with("cpu: ") && cpu.device.ends_with(", 1 thread")) << cpu.device;
  EXPECT_TRUE(first.measured.front());
  EXPECT_EQ(first.n_ctx, 256);
  EXPECT_EQ(cpu.prompt.back().tokens, 256);
  EXPECT_EQ(cpu.steps.size(), 3u);
  EXPECT_NE(cpu.energy_source.empty(), cpu.energy_reason.empty());
  EXPECT_GT(cpu.setup.seconds, 0);

  const CurveSet second = cost_curves(options()).value();
  EXPECT_FALSE(second.measured.front());
  EXPECT_EQ(second.curves.front().setup.seconds, cpu.setup.seconds);
  CurveOptions again = options();
  again.again = true;
  EXPECT_TRUE(cost_curves(again).value().measured.front());
}

// Curves depend on shapes and formats, not on weights.
TEST_F(Curves, AreOfAShapeAndAFormat) {
  const std::string model = cost_curves(options()).value().curves.front().model;
  const SynthModel same({.preset = "tiny", .head = "f16", .seed = 5}), other({.preset = "tiny", .head = "f32"});
  CurveOptions alike = options(), unlike = options();
  alike.load.model_path = same.str();
  unlike.load.model_path = other.str();
  EXPECT_FALSE(cost_curves(alike).value().measured.front());
  const CurveSet of_other = cost_curves(unlike).value();
  EXPECT_TRUE(of_other.measured.front());
  EXPECT_NE(of_other.curves.front().model, model);
  CurveOptions exact = options();
  exact.load.head = HeadKind::kExact;
  EXPECT_NE(cost_curves(exact).value().curves.front().model, model) << "so does what the head is computed from";
}

TEST_F(Curves, ShortContextsAreToldBeforeAnythingIsMeasured) {
  CurveOptions too_long = options();
  too_long.least_ctx = 257;
  const auto set = cost_curves(too_long);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(folder_.str()));
  CurveOptions unfused = options();
  unfused.load.fuse = false;
  EXPECT_EQ(cost_curves(unfused).error().code, ErrorCode::kInvalidArgument) << "it would be kept as if it were fused";
  CurveOptions missing = options();
  missing.load.model_path = "/nowhere.gguf";
  EXPECT_EQ(cost_curves(missing).error().code, ErrorCode::kNotFound);
}

TEST_F(Curves, LoadingIsTheShortestStartOfAProgram) {
  CurveOptions with = options();
  int n_starts = 0;
  with.start_seconds = [&](BackendKind) -> Result<double> { return std::array{1.75, 1.5, 1.625}[n_starts++]; };
  const CostCurve curve = cost_curves(with).value().curves.front();
  EXPECT_EQ(n_starts, 3);
  EXPECT_DOUBLE_EQ(curve.setup.seconds, 1.5 - prompt_cost(curve.prompt, 1).seconds);
  with.again = true;
  n_starts = 0;
  with.start_seconds = [&](BackendKind) -> Result<double> { return 7.0 + n_starts++; };
  EXPECT_GT(cost_curves(with).value().curves.front().setup.seconds, 6);
  EXPECT_EQ(n_starts, 1) << "there is no time for more";
  with.start_seconds = [](BackendKind) -> Result<double> { return fail(ErrorCode::kIo, "no programs here"); };
  EXPECT_LT(cost_curves(with).value().curves.front().setup.seconds, 6) << "as it takes in this one";
}

TEST_F(Curves, AJobCanBeRunToCompare) {
  const CurveSet set = cost_curves(options()).value();
  const ExpectedJob job{.n_prompt = 30, .n_generate = 10, .counts_setup = true};
  const JobCost cost = measure_job(set.curves, {}, options().load, job).value();
  EXPECT_GT(cost.prompt.seconds, 0);
  EXPECT_GT(cost.decode.seconds, 0);
  EXPECT_DOUBLE_EQ(cost.total.seconds, cost.setup.seconds + cost.prompt.seconds + cost.decode.seconds);
  EXPECT_EQ(measure_job(set.curves, {}, options().load, {.n_prompt = 300}).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace tern
