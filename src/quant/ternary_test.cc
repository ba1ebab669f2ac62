#include "quant/ternary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "quant/quant_test_support.h"

namespace tern {
namespace {

using Codes = std::vector<int8_t>;

struct Quantized {
  Codes codes;
  float scale;
};

Quantized quantize(const std::vector<float>& w) {
  Codes codes(w.size(), 99);
  const float scale = absmean_ternary(w, codes);
  return {codes, scale};
}

TEST(AbsmeanTernary, WorkedExample) {
  const auto [codes, scale] = quantize({0.9f, -0.2f, 0.1f, -0.8f});
  EXPECT_FLOAT_EQ(scale, 0.5f);
  EXPECT_EQ(codes, (Codes{1, 0, 0, -1}));
}

// mean|w| is 1, so ±0.5 is half way between two codes. Half to even takes both to 0; the next float above 0.5 goes to
// 1.
TEST(AbsmeanTernary, HalvesRoundToEven) {
  EXPECT_EQ(quantize({0.5f, -0.5f, 1.5f, -1.5f}).codes, (Codes{0, 0, 1, -1}));
  const float above = std::nextafter(0.5f, 1.0f);
  EXPECT_EQ(quantize({above, -above, 1.5f, -1.5f}).codes, (Codes{1, -1, 1, -1}));
}

TEST(AbsmeanTernary, ClampsLargeWeights) {
  const auto [codes, scale] = quantize({100.0f, -1.0f, 0.0f, -99.0f});
  EXPECT_EQ(scale, 50.0f);
  EXPECT_EQ(codes, (Codes{1, 0, 0, -1}));
}

TEST(AbsmeanTernary, ScaleHasAFloor) {
  EXPECT_EQ(quantize({0.0f, 0.0f}).scale, 1e-5f);
  EXPECT_EQ(quantize({0.0f, 0.0f}).codes, (Codes{0, 0}));
  EXPECT_EQ(quantize({1e-7f, -1e-7f}).codes, (Codes{0, 0}));
  EXPECT_EQ(quantize({}).scale, 1e-5f);
}

// Weights that are already −s, 0, +s keep their codes if more than half of them are not 0: mean|w| > s/2.
TEST(AbsmeanTernary, TernaryWeightsKeepTheirCodes) {
  const std::vector<float> w = quant_test::Random(11).ternary(4096, 0.04f);
  const Quantized q = quantize(w);
  for (size_t i = 0; i < w.size(); ++i) ASSERT_EQ(q.codes[i], (w[i] > 0) - (w[i] < 0));
}

TEST(AbsmeanTernary, NanShowsInTheScale) {
  const auto [codes, scale] = quantize({1.0f, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_TRUE(std::isnan(scale));
  EXPECT_EQ(codes[1], 0);
}

}  // namespace
}  // namespace tern
