#include "engine/load/pass_costs.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "routing/routing_test_support.h"

namespace tern {
namespace {

using routing_test::linear_curve;

constexpr size_t kCpu = 0, kGpu = 1;

// The GPU prefills ten times as fast, and the CPU decodes twice as fast; moving a token takes 0.05 ms.
std::array<CostCurve, 2> each_has_its_own() {
  std::array curves = {
      linear_curve(BackendKind::kCpu, {.prompt_token = 0.01, .step = 0.01, .watts = 20}),
      linear_curve(BackendKind::kWebGpu, {.prompt_token = 0.001, .step = 0.02, .watts = 300}),
  };
  for (CostCurve& curve : curves) curve.kv_out_seconds = curve.kv_in_seconds = 2.5e-5;
  return curves;
}

// Slices of n_tokens at first_pos.
class Slices {
 public:
  Slices& add(int n_tokens, int first_pos) {
    slices_.push_back({.tokens = std::span(tokens_).first(static_cast<size_t>(n_tokens)), .first_pos = first_pos});
    return *this;
  }
  operator Batch() const { return slices_; }

 private:
  std::vector<TokenId> tokens_ = std::vector<TokenId>(4096);
  std::vector<Slice> slices_;
};

size_t cheapest(const PassCosts& costs, Batch slices, std::array<int64_t, 2> missing = {}) {
  return costs(kGpu, slices, missing) < costs(kCpu, slices, missing) ? kGpu : kCpu;
}

TEST(PassCosts, ArePassMovingAndWhatComesOfIt) {
  const PassCosts costs(each_has_its_own(), Prefer::kSpeed, 100);
  // 512 tokens take 0.512 s on the GPU; then they move, and the CPU decodes 100 tokens.
  EXPECT_NEAR(costs(kGpu, Slices().add(512, 0), {}), 0.512 + 512 * 5e-5 + 100 * 0.01, 1e-9);
  EXPECT_NEAR(costs(kCpu, Slices().add(512, 0), {}), 5.12 + 100 * 0.01, 1e-9);
  // A later piece of a prompt costs what it adds to the total.
  EXPECT_NEAR(costs(kGpu, Slices().add(256, 256), {256, 64}), 64 * 5e-5 + 0.256 + 512 * 5e-5 + 100 * 0.01, 1e-9);
  EXPECT_NEAR(costs(kGpu, Slices().add(256, 256), {0, 64}), 64 * 5e-5 + 0.256 + 256 * 5e-5 + 100 * 0.01, 1e-9)
      << "the CPU has the beginning";
  EXPECT_NEAR(costs(kCpu, Slices().add(1, 500), {}), 0.01 + 100 * 0.01, 1e-9);
  EXPECT_NEAR(costs(kGpu, Slices().add(1, 500), {}), 0.02 + 64 * 5e-5 + 100 * 0.01, 1e-9);
  // Here eight replies take twice as long as one.
  Slices eight;
  for (int i = 0; i < 8; ++i) eight.add(1, 500);
  EXPECT_NEAR(costs(kCpu, eight, {}), 0.02 + 100 * 0.02, 1e-9);
}

TEST(PassCosts, PromptsGoWhereReadingAndWritingTogetherCostLeast) {
  const PassCosts costs(each_has_its_own(), Prefer::kSpeed, 100);
  EXPECT_EQ(cheapest(costs, Slices().add(512, 0)), kGpu);
  EXPECT_EQ(cheapest(costs, Slices().add(1, 512), {512, 0}), kCpu) << "100 tokens are worth the moving";
  EXPECT_EQ(cheapest(PassCosts(each_has_its_own(), Prefer::kSpeed, 1), Slices().add(1, 512), {512, 0}), kGpu)
      << "one is not";
  EXPECT_EQ(cheapest(costs, Slices().add(1, 600), {0, 600}), kCpu) << "and there it stays";
}

// With a constant cost per pass, even a short piece of a long prompt costs a whole pass.
TEST(PassCosts, APieceOfAPromptIsAPass) {
  auto curves = each_has_its_own();
  for (CurvePoint& point : curves[kGpu].prompt) point.cost.seconds += 0.1;
  const PassCosts costs(curves, Prefer::kSpeed, 1);
  EXPECT_NEAR(costs(kGpu, Slices().add(64, 512), {}), 0.1 + 0.064 + 64 * 5e-5 + 0.01, 1e-9);
}

// Moving later saves nothing, since a partly filled block counts as a whole one.
TEST(PassCosts, NothingIsWonByWaiting) {
  auto curves = each_has_its_own();
  curves[kGpu] = linear_curve(BackendKind::kWebGpu, {.prompt_token = 0.1, .step = 0.009, .watts = 300});
  curves[kGpu].kv_out_seconds = curves[kGpu].kv_in_seconds = 2.5e-5;
  const PassCosts costs(curves, Prefer::kSpeed, 100);
  EXPECT_EQ(cheapest(costs, Slices().add(1, 20), {0, 64}), kGpu);
}

TEST(PassCosts, ByEnergyWhereItIsKnown) {
  EXPECT_EQ(cheapest(PassCosts(each_has_its_own(), Prefer::kEnergy, 100), Slices().add(512, 0)), kCpu)
      << "300 watts for a tenth of the time";
  auto curves = each_has_its_own();
  curves[kCpu].steps[1].points[2].cost.joules.reset();
  EXPECT_EQ(cheapest(PassCosts(curves, Prefer::kEnergy, 100), Slices().add(512, 0)), kGpu);
}

}  // namespace
}  // namespace tern
