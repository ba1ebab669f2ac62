#include <gtest/gtest.h>

#include "routing/routing_test_support.h"

namespace tern {
namespace {

using routing_test::linear_curve;

// The GPU is faster in prefill and decode, but needs two seconds of setup.
const std::vector<CostCurve> kBoth = {
    linear_curve(BackendKind::kCpu, {.setup = 0.5, .prompt_token = 0.01, .step = 0.02, .watts = 20}),
    linear_curve(BackendKind::kWebGpu, {.setup = 2.5, .prompt_token = 0.001, .step = 0.01, .watts = 100})};

TEST(ChooseDevice, DependsOnTheJob) {
  const ExpectedJob brief{.n_prompt = 20, .n_generate = 20, .counts_setup = true};
  EXPECT_EQ(choose_route(kBoth, brief, Prefer::kSpeed).route.reads, 0u);
  ExpectedJob loaded = brief;
  loaded.counts_setup = false;
  EXPECT_EQ(choose_route(kBoth, loaded, Prefer::kSpeed).route.reads, 1u);
  EXPECT_EQ(choose_route(kBoth, {.n_prompt = 500, .n_generate = 100, .counts_setup = true}, Prefer::kSpeed).route.reads,
            1u);
}

TEST(ChooseDevice, DependsOnWhatIsPreferred) {
  const ExpectedJob writing{.n_prompt = 10, .n_generate = 101};
  EXPECT_EQ(choose_route(kBoth, writing, Prefer::kSpeed).reason, "webgpu takes 1.0 s for 10 + 101 tokens, cpu 2.1 s");
  EXPECT_EQ(choose_route(kBoth, writing, Prefer::kEnergy).reason, "cpu takes 42.0 J for 10 + 101 tokens, webgpu 101 J");
  EXPECT_EQ(choose_route(kBoth, {.n_prompt = 1000, .n_generate = 1}, Prefer::kEnergy).route.reads, 1u);
}

TEST(ChooseDevice, WithoutJoulesItIsSpeed) {
  std::vector<CostCurve> curves = kBoth;
  curves[1] = linear_curve(BackendKind::kWebGpu, {.prompt_token = 0.001, .step = 0.01});
  const RouteChoice choice = choose_route(curves, {.n_prompt = 10, .n_generate = 101}, Prefer::kEnergy);
  EXPECT_EQ(choice.route.reads, 1u);
  EXPECT_TRUE(choice.reason.ends_with("; by speed, since not all joules are known")) << choice.reason;
}

TEST(ChooseDevice, OfEqualOnesTheFirst) {
  const std::vector<CostCurve> same = {kBoth[1], kBoth[1]};
  EXPECT_EQ(choose_route(same, {}, Prefer::kSpeed).route.reads, 0u);
  EXPECT_EQ(choose_route(std::span(same).first(1), {}, Prefer::kEnergy).route.reads, 0u);
}

// The GPU prefills ten times as fast, and the CPU decodes twice as fast.
std::vector<CostCurve> each_has_its_own() {
  std::vector<CostCurve> curves = {
      linear_curve(BackendKind::kCpu, {.setup = 0.5, .prompt_token = 0.01, .step = 0.01, .watts = 20}),
      linear_curve(BackendKind::kWebGpu, {.setup = 2.5, .prompt_token = 0.001, .step = 0.02, .watts = 100})};
  curves[0].kv_in_seconds = 1e-5;
  curves[1].kv_out_seconds = 4e-5;
  curves[0].kv_out_seconds = curves[1].kv_in_seconds = 1;  // not used in this direction
  return curves;
}

TEST(ChooseRoute, ReadsOnOneAndWritesOnTheOther) {
  const auto curves = each_has_its_own();
  const ExpectedJob job{.n_prompt = 1000, .n_generate = 101};
  const RouteChoice choice = choose_route(curves, job, Prefer::kSpeed);
  EXPECT_EQ(choice.route, (Route{.reads = 1, .writes = 0}));
  EXPECT_EQ(choice.reason, "webgpu, then cpu takes 2.1 s for 1000 + 101 tokens, cpu 11.0 s, webgpu 3.0 s");
  const JobCost cost = predict(curves, choice.route, job);
  EXPECT_NEAR(cost.prompt.seconds, 1, 1e-9);
  EXPECT_NEAR(cost.moving.seconds, 1024 * 5e-5, 1e-9);
  EXPECT_NEAR(cost.decode.seconds, 1, 1e-9);
  EXPECT_NEAR(cost.total.seconds, 2.0512, 1e-9);
  EXPECT_NEAR(*cost.total.joules, 120, 1e-6);
}

TEST(ChooseRoute, LoadsOnBothDevices) {
  const ExpectedJob job{.n_prompt = 1000, .n_generate = 101, .counts_setup = true};
  EXPECT_NEAR(predict(each_has_its_own(), {.reads = 1, .writes = 0}, job).total.seconds, 5.0512, 1e-9);
  EXPECT_EQ(choose_route(each_has_its_own(), job, Prefer::kSpeed).route, (Route{.reads = 1, .writes = 0}));
  const ExpectedJob brief{.n_prompt = 10, .n_generate = 11, .counts_setup = true};
  EXPECT_EQ(choose_route(each_has_its_own(), brief, Prefer::kSpeed).route, (Route{.reads = 0, .writes = 0}));
}

TEST(ChooseRoute, ASecondDeviceHasToBringSomething) {
  auto curves = each_has_its_own();
  const ExpectedJob job{.n_prompt = 1000, .n_generate = 101};
  curves[1].kv_out_seconds = 0.0008;  // 2.83 s: 6 % less than the GPU's 3
  EXPECT_TRUE(choose_route(curves, job, Prefer::kSpeed).route.is_split());
  curves[1].kv_out_seconds = 0.0009;  // 2.93 s: 2 % less
  EXPECT_EQ(choose_route(curves, job, Prefer::kSpeed).route, (Route{.reads = 1, .writes = 1}));
}

TEST(ManyJobs, TellWhatOneDeviceForAllCosts) {
  const ManyJobs split = many_jobs(each_has_its_own(), 4096, Prefer::kSpeed);
  EXPECT_EQ(split.alone, 1u);
  EXPECT_GT(split.factor, 1.3);
  const ManyJobs one = many_jobs(kBoth, 4096, Prefer::kSpeed);
  EXPECT_EQ(one.alone, 1u);
  EXPECT_DOUBLE_EQ(one.factor, 1);
  EXPECT_GE(many_jobs(each_has_its_own(), 4, Prefer::kSpeed).factor, 1) << "a context that holds none of the jobs";
}

TEST(Crossovers, AreExact) {
  // 0.5 + 0.01 p against 2.5 + 0.001 p: beyond 222.2 tokens the GPU wins.
  const ExpectedJob job{.n_generate = 1, .counts_setup = true};
  const auto found = crossovers(kBoth, job, &ExpectedJob::n_prompt, 4096, Prefer::kSpeed);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tokens, 223);
  EXPECT_EQ(found[0].from, (Route{0, 0}));
  EXPECT_EQ(found[0].to, (Route{1, 1}));
  for (const int most : {223, 224, 225, 300, 777, 1000, 5000, 12345, 100'000}) {
    EXPECT_EQ(crossovers(kBoth, job, &ExpectedJob::n_prompt, most, Prefer::kSpeed).at(0).tokens, 223) << most;
  }
  EXPECT_TRUE(crossovers(kBoth, job, &ExpectedJob::n_prompt, 222, Prefer::kSpeed).empty());
  EXPECT_TRUE(crossovers(kBoth, job, &ExpectedJob::n_prompt, 1, Prefer::kSpeed).empty());
  EXPECT_TRUE(crossovers(kBoth, {}, &ExpectedJob::n_prompt, 4096, Prefer::kSpeed).empty());
}

TEST(Crossovers, ByWhatIsGenerated) {
  // 0.6 + 0.02 (n − 1) against 2.51 + 0.01 (n − 1): beyond 191 steps.
  const ExpectedJob job{.n_prompt = 10, .counts_setup = true};
  const auto found = crossovers(kBoth, job, &ExpectedJob::n_generate, 1000, Prefer::kSpeed);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].tokens, 193, 1);
}

}  // namespace
}  // namespace tern
