// copy, glu_mul, add, add_bias and rope use the same float operations in the same order: no tolerance. SiLU and GELU
// have one.
#include <cmath>
#include <limits>

#include "backend/cpu/ops/ops.h"
#include "backend/cpu/ops/sum_words.h"
#include "backend/ref/ops.h"
#include "backend/rope_table.h"
#include "conform/conform.h"

namespace tern::conform {
namespace {

TEST(Conform, ElementwiseOpsAreBitIdentical) {
  for (const size_t count : {1u, 3u, 17u, 4096u, 9001u}) {
    Guarded<float> a(count, 1), b(count, 2), expected(count), actual(count, 3);
    Values values(count);
    values.fill(a);
    values.fill(b);
    ref::glu_mul({a.data(), b.data(), GluAct::kRelu2, count, expected.data()});
    run_on(2, cpu::glu_mul, {a.data(), b.data(), GluAct::kRelu2, count, actual.data()});
    EXPECT_EQ(actual.values(), expected.values());
    ref::add({a.data(), count, expected.data()});
    run_on(3, cpu::add, {a.data(), count, actual.data()});
    EXPECT_EQ(actual.values(), expected.values());
    EXPECT_TRUE(actual.intact());
  }
}

TEST(Conform, GluMulTakesColumnsOfAWiderMatrix) {
  constexpr int kWidth = 37, kStride = 111, kRows = 41;
  for (const GluAct act : {GluAct::kRelu2, GluAct::kGeluTanh}) {
    Guarded<float> gate(kRows * kWidth, 1), up(kRows * kStride, 2), expected(gate.size()), actual(gate.size(), 3);
    std::vector<float> columns;
    Values(4).fill(gate);
    Values(5).fill(up);
    for (size_t i = 0; i < gate.size(); ++i) columns.push_back(up[i / kWidth * kStride + 7 + i % kWidth]);
    run_on(1, cpu::glu_mul, {gate.data(), columns.data(), act, gate.size(), expected.data()});
    ops::GluMul op{gate.data(), up.data() + 7, act, gate.size(), actual.data(), kWidth, kStride};
    run_on(3, cpu::glu_mul, op);
    EXPECT_TRUE(actual.intact());
    for (size_t i = 0; i < gate.size(); ++i) {
      EXPECT_NEAR(actual[i], expected[i], 8 * kUlp * std::abs(expected[i])) << i;  // vectors begin elsewhere
    }
    ref::glu_mul({gate.data(), columns.data(), act, gate.size(), expected.data()});
    ref::glu_mul(op);
    EXPECT_EQ(actual.values(), expected.values());
  }
}

TEST(Conform, AddMultipliesTheSum) {
  Guarded<float> in(9001, 1), expected(9001, 2), actual(9001, 2);
  Values(6).fill(in);
  Values(7).fill(expected);
  std::ranges::copy(expected.values(), actual.data());
  ref::add({in.data(), in.size(), expected.data(), 0.3f});
  run_on(3, cpu::add, {in.data(), in.size(), actual.data(), 0.3f});
  EXPECT_EQ(actual.values(), expected.values());
  EXPECT_TRUE(actual.intact());
}

TEST(Conform, SelectRowsTakesThemInTheirOrder) {
  constexpr int kWidth = 5;
  Guarded<float> in(7 * kWidth, 1), expected(3 * kWidth), actual(3 * kWidth, 2);
  Values(3).fill(in);
  const std::vector<int> rows = {6, 0, 3};
  ref::select_rows({in.data(), rows, kWidth, expected.data()});
  run_on(2, cpu::select_rows, {in.data(), rows, kWidth, actual.data()});
  EXPECT_EQ(actual.values(), expected.values());
  for (size_t i = 0; i < kWidth; ++i) EXPECT_EQ(actual[2 * kWidth + i], in[3 * kWidth + i]);
  EXPECT_TRUE(actual.intact());
}

// Over the whole range of floats: e^−x overflows at one end and vanishes at the other.
TEST(Conform, SiluIsWithinAFewRoundings) {
  on_every_target([] {
    Guarded<float> gate(4003, 1);
    Values(8).fill(gate);
    const float edges[] = {0.0f, -0.0f, 1e-30f, -1e-30f, 88.7f, -88.7f, -103.9f, -104.1f, 3e38f, -3e38f};
    std::ranges::copy(edges, gate.data());
    for (size_t i = std::size(edges); i < 1000; ++i) gate[i] *= 5;
    Guarded<float> up(gate.size()), expected(gate.size()), actual(gate.size(), 2);
    for (size_t i = 0; i < up.size(); ++i) up[i] = i % 2 == 0 ? 0.75f : -0.3f;
    ref::glu_mul({gate.data(), up.data(), GluAct::kSilu, gate.size(), expected.data()});
    run_on(2, cpu::glu_mul, {gate.data(), up.data(), GluAct::kSilu, gate.size(), actual.data()});
    for (size_t i = 0; i < gate.size(); ++i) {
      // The exponential is off by 2 roundings. Addition, division and multiplication by `up` add one each, on both
      // sides. Where e^−x is close to the largest float, the quotient is subnormal.
      ASSERT_NEAR(actual[i], expected[i], 8 * kUlp * std::abs(expected[i]) + 1e-36) << "silu of " << gate[i];
    }
    EXPECT_TRUE(actual.intact());
  });
}

// Over the whole range of floats: the cube overflows, tanh is ±1, and near 0 the result is half of the gate.
TEST(Conform, GeluIsWithinAFewRoundings) {
  on_every_target([] {
    Guarded<float> gate(4003, 1);
    Values(9).fill(gate);
    const float edges[] = {0.0f, -0.0f, 1e-30f, -1e-30f, 5.0f, -5.0f, -9.9f, 100.0f, 1e12f, -1e12f};
    std::ranges::copy(edges, gate.data());
    for (size_t i = std::size(edges); i < 3000; ++i) gate[i] *= 0.1f;
    Guarded<float> up(gate.size()), expected(gate.size()), actual(gate.size(), 2);
    for (size_t i = 0; i < up.size(); ++i) up[i] = i % 2 == 0 ? 0.75f : -0.3f;
    ref::glu_mul({gate.data(), up.data(), GluAct::kGeluTanh, gate.size(), expected.data()});
    run_on(2, cpu::glu_mul, {gate.data(), up.data(), GluAct::kGeluTanh, gate.size(), actual.data()});
    for (size_t i = 0; i < gate.size(); ++i) {
      // 1 + tanh is off by a few roundings of 1, even where it is nearly 0.
      ASSERT_NEAR(actual[i], expected[i], 12 * kUlp * std::abs(0.5f * gate[i] * up[i])) << "gelu of " << gate[i];
    }
    EXPECT_TRUE(actual.intact());
  });
}

TEST(Conform, AddBiasIsBitIdentical) {
  for (const int width : {1, 7, 64, 515}) {
    for (const int n : {1, 3, 17}) {
      Guarded<float> bias(static_cast<size_t>(width), 1), expected(static_cast<size_t>(n * width)),
          actual(expected.size(), 1);
      Values values(static_cast<uint64_t>(width));
      values.fill(bias);
      values.fill(expected);
      std::copy_n(expected.data(), expected.size(), actual.data());
      ref::add_bias({bias.data(), n, width, expected.data()});
      run_on(2, cpu::add_bias, {bias.data(), n, width, actual.data()});
      EXPECT_EQ(actual.values(), expected.values());
      EXPECT_TRUE(actual.intact());
    }
  }
}

TEST(Conform, SoftcapIsWithinAFewRoundings) {
  on_every_target([] {
    for (const float cap : {0.5f, 30.0f}) {
      Guarded<float> expected(10007, 1), actual(expected.size(), 1);
      Values(3).fill(expected);
      const float edges[] = {0.0f, -0.0f, 1e-30f, 3e38f, -3e38f, std::numeric_limits<float>::quiet_NaN()};
      std::ranges::copy(edges, expected.data());
      for (size_t i = std::size(edges); i < 5000; ++i) expected[i] *= 10;
      std::copy_n(expected.data(), expected.size(), actual.data());
      ref::softcap({cap, expected.size(), expected.data()});
      run_on(2, cpu::softcap, {cap, actual.size(), actual.data()});
      EXPECT_TRUE(std::isnan(actual[5]));  // a NaN must not be hidden
      expected[5] = actual[5] = 0;
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(actual[i], expected[i], 6 * kUlp * std::abs(expected[i])) << "cap " << cap << ", at " << i;
        ASSERT_LE(std::abs(actual[i]), cap);
      }
      EXPECT_TRUE(actual.intact());
    }
  });
}

// All activations keep a NaN in the gate.
TEST(Conform, GluKeepsNan) {
  on_every_target([] {
    for (const GluAct act : {GluAct::kRelu2, GluAct::kSilu, GluAct::kGeluTanh, GluAct::kSwigluOai}) {
      std::vector<float> gate(37, 1.0f), up(37, 2.0f), expected(37), actual(37);
      for (const size_t i : {0, 5, 31, 36}) gate[i] = NAN;
      ref::glu_mul({gate.data(), up.data(), act, gate.size(), expected.data()});
      run_on(1, cpu::glu_mul, {gate.data(), up.data(), act, gate.size(), actual.data()});
      for (size_t i = 0; i < gate.size(); ++i) {
        ASSERT_EQ(std::isnan(expected[i]), std::isnan(gate[i])) << i;
        ASSERT_EQ(std::isnan(actual[i]), std::isnan(gate[i])) << i;
      }
    }
  });
}

TEST(Conform, RopeIsBitIdentical) {
  for (const RopePairs pairs : {RopePairs::kHalves, RopePairs::kInterleaved}) {
    for (const int head_dim : {2, 6, 36, 64, 80, 100, 128}) {
      constexpr int kRows = 3, kHeads = 5;
      RopeTable table({.theta = 10000.0f}, head_dim, kRows);
      table.fill(0, kRows, 17);
      Guarded<float> expected(static_cast<size_t>(kRows * kHeads * head_dim)), actual(expected.size(), 1);
      Values(1).fill(expected);
      std::copy_n(expected.data(), expected.size(), actual.data());
      ref::rope({expected.data(), kRows, kHeads, head_dim, table.cos(), table.sin(), pairs});
      run_on(2, cpu::rope, {actual.data(), kRows, kHeads, head_dim, table.cos(), table.sin(), pairs});
      EXPECT_EQ(actual.values(), expected.values());
      EXPECT_TRUE(actual.intact());
    }
  }
}

// Against the definition: pair (i, i + d/2) or (2i, 2i + 1) turns by pos · θ^(−2i/d).
TEST(Conform, RopeTurnsTheRightPairs) {
  constexpr int kDim = 8;
  for (const RopePairs pairs : {RopePairs::kHalves, RopePairs::kInterleaved}) {
    for (int i = 0; i < kDim / 2; ++i) {
      RopeTable table({.theta = 100.0f}, kDim, 1);
      table.fill(0, 1, 3);
      std::vector<float> x(kDim, 0.0f);
      const int first = pairs == RopePairs::kHalves ? i : 2 * i;
      const int second = pairs == RopePairs::kHalves ? i + kDim / 2 : 2 * i + 1;
      x[static_cast<size_t>(first)] = 1.0f;
      run_on(1, cpu::rope, {x.data(), 1, 1, kDim, table.cos(), table.sin(), pairs});
      const double angle = 3 * std::pow(100.0, -2.0 * i / kDim);
      EXPECT_NEAR(x[static_cast<size_t>(first)], std::cos(angle), 1e-6);
      EXPECT_NEAR(x[static_cast<size_t>(second)], std::sin(angle), 1e-6);
    }
  }
}

TEST(Conform, SumWords) {
  on_every_target([] {
    for (size_t n = 0; n < 70; ++n) {
      std::vector<uint64_t> words(n);
      uint64_t expected = 0;
      for (size_t i = 0; i < n; ++i) expected += words[i] = i * 0x9E3779B97F4A7C15u;
      EXPECT_EQ(cpu::sum_words(words), expected) << n;
    }
  });
}

}  // namespace
}  // namespace tern::conform
