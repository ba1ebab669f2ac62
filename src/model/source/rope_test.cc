// Compares frequencies of every kind of RoPE with independent values (NumPy, double precision) for published models.
#include "model/source/rope.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ranges>

namespace tern {
namespace {

constexpr int kDim = 128;

struct YarnCase {
  const char* name;
  RopeParams rope;
  int low, high, middle;
  double at_low, after_low, at_middle, before_high, at_high, last;
  double cos_100, sin_100, cos_5000, sin_5000;  // of the middle pair
};

RopeParams yarn(float theta, int original_ctx) {
  return {.theta = theta, .scaling = RopeScaling::kYarn, .factor = 4, .original_ctx = original_ctx};
}

void expect_near(double actual, double expected) { EXPECT_NEAR(actual, expected, 1e-9 * std::abs(expected)); }

TEST(Rope, YarnOfPublishedModels) {
  const YarnCase cases[] = {
      {"Bonsai-1.7B", yarn(1e6f, 8192), 17, 34, 25, 2.548296748e-02, 1.962928334e-02, 2.932201177e-03, 2.370124082e-04,
       1.623454079e-04, 3.102344402e-07, 1.0900306, 0.3291053, -0.5695515, 0.9859453},
      {"Bonsai-4B", yarn(5e6f, 8192), 15, 30, 22, 2.691094231e-02, 2.009005401e-02, 3.236997900e-03, 2.764715654e-04,
       1.810497040e-04, 6.362699470e-08, 1.0794948, 0.3621711, -1.0115177, -0.5227897},
      {"Bonsai-8B", yarn(1e6f, 16384), 20, 37, 28, 1.333521432e-02, 1.027198659e-02, 1.534418280e-03, 1.240283834e-04,
       8.495520822e-05, 3.102344402e-07, 1.1252515, 0.1740286, 0.2059655, 1.1198461},
  };
  for (const YarnCase& c : cases) {
    SCOPED_TRACE(c.name);
    const RopeFrequencies turns = rope_frequencies(c.rope, kDim, 32768);
    const auto f = [&](int i) { return turns.frequencies[static_cast<size_t>(i)]; };
    expect_near(f(0), 1);
    expect_near(f(c.low), c.at_low);
    expect_near(f(c.low + 1), c.after_low);
    expect_near(f(c.middle), c.at_middle);
    expect_near(f(c.high - 1), c.before_high);
    expect_near(f(c.high), c.at_high);
    expect_near(f(63), c.last);
    EXPECT_NEAR(turns.magnitude, 1.1386294, 5e-8);
    EXPECT_NEAR(turns.magnitude * std::cos(100 * f(c.middle)), c.cos_100, 1e-6);
    EXPECT_NEAR(turns.magnitude * std::sin(100 * f(c.middle)), c.sin_100, 1e-6);
    EXPECT_NEAR(turns.magnitude * std::cos(5000 * f(c.middle)), c.cos_5000, 1e-5);
    EXPECT_NEAR(turns.magnitude * std::sin(5000 * f(c.middle)), c.sin_5000, 1e-5);
    EXPECT_NEAR(turns.magnitude * std::cos(1.0), 0.6152041, 1e-7);
  }
}

TEST(Rope, Llama3DivisorsOfPublishedModels) {
  struct Case {
    const char* name;
    double factor;
    int dim;
    int first;  // the last pair whose divisor is 1; `divisors` are those after it
    std::vector<float> divisors;
  };
  const Case cases[] = {
      {"Llama 3.1 8B", 8, 128, 28, {1, 1.2074839f, 1.5534146f, 2.0263132f, 2.6945297f, 3.6842525f, 5.2573266f, 8, 8}},
      {"Llama 3.2 1B", 32, 64, 14, {1, 1.6513292f, 3.2922621f, 9.6667290f, 32, 32}},
      {"Llama 3.2 3B", 32, 128, 28, {1, 1.2349370f, 1.6513292f, 2.2766595f, 3.2922621f, 5.1715956f, 9.6667290f, 32}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto divisors = llama3_divisors({.factor = c.factor}, 5e5, c.dim);
    ASSERT_EQ(divisors.size(), static_cast<size_t>(c.dim / 2));
    EXPECT_TRUE(std::ranges::all_of(divisors | std::views::take(c.first), [](float g) { return g == 1; }));
    for (size_t i = 0; i < c.divisors.size(); ++i) {
      EXPECT_NEAR(divisors[static_cast<size_t>(c.first) + i], c.divisors[i], 2e-7 * c.divisors[i]) << i;
    }
    EXPECT_EQ(divisors.back(), static_cast<float>(c.factor));
  }
}

TEST(Rope, DivisorsOfOneAndLinearByOneChangeNothing) {
  const RopeFrequencies plain = rope_frequencies({.theta = 5e5f}, kDim, 100);
  const RopeFrequencies ones = rope_frequencies({.theta = 5e5f, .divisors = std::vector<float>(64, 1)}, kDim, 100);
  const RopeFrequencies linear = rope_frequencies({.theta = 5e5f, .scaling = RopeScaling::kLinear}, kDim, 100);
  EXPECT_EQ(ones.frequencies, plain.frequencies);
  EXPECT_EQ(linear.frequencies, plain.frequencies);
  EXPECT_EQ(plain.magnitude, 1);
  EXPECT_EQ(linear.magnitude, 1);
}

TEST(Rope, LinearDividesEveryFrequency) {
  const RopeFrequencies plain = rope_frequencies({}, 8, 100);
  const RopeFrequencies linear = rope_frequencies({.scaling = RopeScaling::kLinear, .factor = 4}, 8, 100);
  for (size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(linear.frequencies[i], plain.frequencies[i] / 4);
}

TEST(Rope, LongropeChoosesByTheRoomOfTheSession) {
  const RopeParams rope{.scaling = RopeScaling::kLongrope,
                        .original_ctx = 4096,
                        .attn_factor = 1.25f,
                        .divisors = {1, 2},
                        .long_divisors = {4, 8}};
  const RopeFrequencies at_first = rope_frequencies(rope, 4, 4096), later = rope_frequencies(rope, 4, 4097);
  EXPECT_DOUBLE_EQ(at_first.frequencies[1], 0.01 / 2);
  EXPECT_DOUBLE_EQ(later.frequencies[1], 0.01 / 8);
  EXPECT_EQ(at_first.magnitude, 1.25);
  EXPECT_EQ(later.magnitude, 1.25);
}

TEST(Rope, NamesOfScalings) {
  for (const auto scaling : {RopeScaling::kNone, RopeScaling::kLinear, RopeScaling::kYarn, RopeScaling::kLongrope}) {
    EXPECT_EQ(find_rope_scaling(rope_scaling_name(scaling)), scaling);
  }
  EXPECT_EQ(find_rope_scaling("dynamic"), std::nullopt);
}

}  // namespace
}  // namespace tern
