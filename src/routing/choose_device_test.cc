#include <gtest/gtest.h>

#include "routing/test_support.h"

namespace tern {
namespace {

using routing_test::linear_curve;

// The GPU reads and writes faster, and needs two seconds before it does.
const std::vector<CostCurve> kBoth = {
    linear_curve(BackendKind::kCpu, {.setup = 0.5, .prompt_token = 0.01, .step = 0.02, .watts = 20}),
    linear_curve(BackendKind::kWebGpu, {.setup = 2.5, .prompt_token = 0.001, .step = 0.01, .watts = 100})};

TEST(ChooseDevice, DependsOnTheJob) {
  const ExpectedJob brief{.n_prompt = 20, .n_generate = 20, .counts_setup = true};
  EXPECT_EQ(choose_device(kBoth, brief, Prefer::kSpeed).index, 0u);
  ExpectedJob loaded = brief;
  loaded.counts_setup = false;
  EXPECT_EQ(choose_device(kBoth, loaded, Prefer::kSpeed).index, 1u);
  EXPECT_EQ(choose_device(kBoth, {.n_prompt = 500, .n_generate = 100, .counts_setup = true}, Prefer::kSpeed).index, 1u);
}

TEST(ChooseDevice, DependsOnWhatIsPreferred) {
  const ExpectedJob writing{.n_prompt = 10, .n_generate = 101};
  EXPECT_EQ(choose_device(kBoth, writing, Prefer::kSpeed).reason, "webgpu takes 1.0 s for 10 + 101 tokens, cpu 2.1 s");
  EXPECT_EQ(choose_device(kBoth, writing, Prefer::kEnergy).reason,
            "cpu takes 42.0 J for 10 + 101 tokens, webgpu 101 J");
  EXPECT_EQ(choose_device(kBoth, {.n_prompt = 1000, .n_generate = 1}, Prefer::kEnergy).index, 1u);
}

TEST(ChooseDevice, WithoutJoulesItIsSpeed) {
  std::vector<CostCurve> curves = kBoth;
  curves[1] = linear_curve(BackendKind::kWebGpu, {.prompt_token = 0.001, .step = 0.01});
  const DeviceChoice choice = choose_device(curves, {.n_prompt = 10, .n_generate = 101}, Prefer::kEnergy);
  EXPECT_EQ(choice.index, 1u);
  EXPECT_TRUE(choice.reason.ends_with("; by speed, since not all joules are known")) << choice.reason;
}

TEST(ChooseDevice, OfEqualOnesTheFirst) {
  const std::vector<CostCurve> same = {kBoth[1], kBoth[1]};
  EXPECT_EQ(choose_device(same, {}, Prefer::kSpeed).index, 0u);
  EXPECT_EQ(choose_device(std::span(same).first(1), {}, Prefer::kEnergy).index, 0u);
}

TEST(Crossovers, AreExact) {
  // 0.5 + 0.01 p against 2.5 + 0.001 p: beyond 222.2 tokens the GPU wins.
  const ExpectedJob job{.n_generate = 1, .counts_setup = true};
  const auto found = crossovers(kBoth, job, &ExpectedJob::n_prompt, 4096, Prefer::kSpeed);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tokens, 223);
  EXPECT_EQ(found[0].from, 0u);
  EXPECT_EQ(found[0].to, 1u);
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
