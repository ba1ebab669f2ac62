#include "tools/random_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tern {
namespace {

TEST(CounterRandom, IsTheSameEverywhere) {
  // SplitMix64 from state 0: the first outputs of its published test vector.
  EXPECT_EQ(mix64(0x9E3779B97F4A7C15u), 0xE220A8397B1DCDAFu);
  EXPECT_EQ(mix64(2 * 0x9E3779B97F4A7C15u), 0x6E789E6AA1B965F4u);
  EXPECT_EQ(mix64(0), 0u);
  // Key 0 mixes to state 0.
  EXPECT_EQ(CounterRandom(0)(0), 0xE220A8397B1DCDAFu);
  EXPECT_EQ(CounterRandom(0)(1), 0x6E789E6AA1B965F4u);
  EXPECT_NE(CounterRandom(1)(0), CounterRandom(2)(0));
}

TEST(FillTernary, HasTheStatedFrequencies) {
  std::vector<float> values(1 << 20);
  fill_ternary(CounterRandom(5), values);
  const auto share = [&](float code) { return static_cast<double>(std::ranges::count(values, code)) / (1 << 20); };
  EXPECT_NEAR(share(-1), 5.0 / 16, 0.002);
  EXPECT_NEAR(share(0), 6.0 / 16, 0.002);
  EXPECT_NEAR(share(1), 5.0 / 16, 0.002);
  EXPECT_EQ(share(-1) + share(0) + share(1), 1.0);
}

TEST(FillTernary, NeighborsAreIndependent) {
  std::vector<float> values(1 << 20);
  fill_ternary(CounterRandom(6), values);
  for (const size_t distance : {1u, 7u, 8u, 32u}) {
    double product = 0;
    for (size_t i = distance; i < values.size(); ++i) product += static_cast<double>(values[i]) * values[i - distance];
    EXPECT_NEAR(product / (1 << 20) / kTernaryVariance, 0, 0.005) << distance;
  }
}

TEST(FillNormal, HasTheStatedMoments) {
  std::vector<float> values(1 << 18);
  fill_normal(CounterRandom(7), 3, 2, values);
  double mean = 0, square = 0, within_one = 0;
  for (const float v : values) mean += v;
  mean /= static_cast<double>(values.size());
  for (const float v : values) square += (v - mean) * (v - mean);
  for (const float v : values) within_one += std::abs(v - 3) < 2;
  EXPECT_NEAR(mean, 3, 0.02);
  EXPECT_NEAR(std::sqrt(square / static_cast<double>(values.size())), 2, 0.02);
  EXPECT_NEAR(within_one / static_cast<double>(values.size()), 0.67, 0.02);  // a bell curve, not uniform (0.58)
  EXPECT_LE(*std::ranges::max_element(values), 3 + 2 * 3.47f);
  EXPECT_GE(*std::ranges::min_element(values), 3 - 2 * 3.47f);
}

}  // namespace
}  // namespace tern
