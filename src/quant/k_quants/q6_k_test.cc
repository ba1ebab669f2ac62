#include "quant/k_quants/q6_k.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/half.h"
#include "quant/quant_test_support.h"

namespace tern {
namespace {

using namespace quant_test;

constexpr int kScalesAt = 192;

// d = 0.25, every scale −3, every code 32, i.e. all zeros.
ByteVector zero_block() { return repeated("00", 128) + repeated("aa", 64) + repeated("fd", 16) + from_hex("00 34"); }

// Writes value i's six bits, following the four lines of the layout's table.
ByteVector with_q6_code(ByteVector block, int i, int code) {
  struct Line {
    int low_offset, low_shift, high_shift;
  };
  constexpr Line kLines[4] = {{0, 0, 0}, {32, 0, 2}, {0, 4, 4}, {32, 4, 6}};
  const Line line = kLines[i % 128 / 32];
  std::byte& low = block[i / 128 * 64 + line.low_offset + i % 32];
  std::byte& high = block[128 + i / 128 * 32 + i % 32];
  low = (low & ~static_cast<std::byte>(15 << line.low_shift)) | static_cast<std::byte>((code & 15) << line.low_shift);
  high = (high & ~static_cast<std::byte>(3 << line.high_shift)) | static_cast<std::byte>(code >> 4 << line.high_shift);
  return block;
}

TEST(Q6_K, WorkedExample) {
  ByteVector block = zero_block();
  block[6] = std::byte{0x50};
  block[128 + 6] = std::byte{0xAA};
  EXPECT_EQ(decode(Format::kQ6_K, block), one_hot(256, 70, 0.25f * -3 * 5));
}

TEST(Q6_K, EveryPositionAndBothEnds) {
  for (int i = 0; i < kQ6_KBlock; ++i) {
    for (const int code : {0, 1, 2, 4, 8, 16, 63}) {
      const ByteVector block = with_q6_code(zero_block(), i, code);
      ASSERT_EQ(decode(Format::kQ6_K, block), one_hot(256, i, -0.75f * static_cast<float>(code - 32))) << i;
    }
  }
}

// A group's scale is scales[i / 16]: if all codes are 33, a value is d · scale.
TEST(Q6_K, EveryScale) {
  ByteVector block = repeated("11", 128) + repeated("aa", 64) + repeated("00", 16) + from_hex("00 3c");
  for (int g = 0; g < 16; ++g) block[kScalesAt + g] = static_cast<std::byte>(g - 5);
  const std::vector<float> decoded = decode(Format::kQ6_K, block);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(decoded[i], static_cast<float>(i / 16 - 5)) << i;
}

// Encoding puts a value where decoding finds it, and nowhere else.
TEST(Q6_K, OneValueSurvivesTheRoundTrip) {
  for (int i = 0; i < kQ6_KBlock; ++i) {
    for (const float value : {32.0f * 128, -32.0f * 128}) {
      const std::vector<float> values = one_hot(256, i, value);
      ASSERT_EQ(decode(Format::kQ6_K, encode(Format::kQ6_K, values)), values) << i;
    }
  }
}

// The error per value: half a step of rounding, plus the loss from clamping. The search may have taken a divisor up to
// 32.9 (0.9 of a step), the side with 31 codes has one step less, and the stored scale is off by half a d, which is
// 1/256 of the largest scale (32/256 of a step). A step is at most the block's largest value / 31.1.
TEST(Q6_K, ErrorBound) {
  Random random(4);
  for (const float size : {0.002f, 1.0f, 300.0f}) {
    for (int round = 0; round < 20; ++round) {
      const std::vector<float> values = random.normals(256, size);
      const std::vector<float> decoded = decode(Format::kQ6_K, encode(Format::kQ6_K, values));
      float greatest = 0;
      for (const float x : values) greatest = std::max(greatest, std::fabs(x));
      const float bound = greatest / 31.1f * (0.5f + 0.9f + 1.0f + 32.0f / 256);
      for (int j = 0; j < 256; ++j) ASSERT_NEAR(decoded[j], values[j], bound) << size;
    }
  }
}

// The benefit of six bits: on normal data a uniform quantizer with step s has an error of s/√12. A group of 16 spans
// about ±1.8 σ, so s ≈ 1.8σ/32 and the error is about 0.016 σ. 0.02 leaves room for the rounding of the scales; a wrong
// search is far above it.
TEST(Q6_K, MeanErrorOnNormalData) {
  const std::vector<float> values = Random(5).normals(64 * 256, 0.03f);
  const std::vector<float> decoded = decode(Format::kQ6_K, encode(Format::kQ6_K, values));
  double error = 0;
  double energy = 0;
  for (size_t j = 0; j < values.size(); ++j) {
    error += (decoded[j] - values[j]) * (decoded[j] - values[j]);
    energy += values[j] * values[j];
  }
  EXPECT_LT(std::sqrt(error / energy), 0.02);
}

// Σ w·error² of Q6_K's plain and weighted encoders.
struct WeightedErrors {
  double plain = 0, weighted = 0;
};
WeightedErrors weighted_errors(const std::vector<float>& values, const std::vector<float>& importance) {
  ByteVector blocks(values.size() / 256 * sizeof(Q6_KBlock));
  format_info(Format::kQ6_K).encode_weighted(values, importance, blocks);
  const std::vector<float> weighted = decode(Format::kQ6_K, blocks);
  const std::vector<float> plain = decode(Format::kQ6_K, encode(Format::kQ6_K, values));
  WeightedErrors errors;
  for (size_t i = 0; i < values.size(); ++i) {
    errors.plain += importance[i] * std::pow(plain[i] - values[i], 2);
    errors.weighted += importance[i] * std::pow(weighted[i] - values[i], 2);
  }
  return errors;
}

// With a few important columns, as in real models, the weighted encoder must gain; without them it must not lose.
TEST(Q6_K, WeightsMakeTheirErrorSmaller) {
  Random random(7);
  struct Case {
    float spread;  // standard deviation of log(importance)
    double most;   // bound, as a fraction of the plain encoder's error
  };
  for (const Case& c : {Case{0, 1}, Case{1, 0.9}, Case{3, 0.6}}) {
    const std::vector<float> values = random.normals(64 * 256, 0.03f);
    std::vector<float> importance(values.size());
    for (float& w : importance) w = std::exp(c.spread * random.normal());
    const WeightedErrors errors = weighted_errors(values, importance);
    EXPECT_LT(errors.weighted, c.most * errors.plain) << c.spread;
    // Only the ratios of the importances matter.
    for (float& w : importance) w *= 1e-30f;
    EXPECT_NEAR(weighted_errors(values, importance).weighted, errors.weighted * 1e-30, errors.weighted * 1e-33);
  }
}

// If all importances of a group are 0, its values must not become zeros.
TEST(Q6_K, ValuesWithoutImportanceAreKept) {
  const std::vector<float> values = Random(8).normals(256, 1);
  std::vector<float> importance(256, 1.0f);
  std::fill_n(importance.begin(), 16, 0.0f);
  ByteVector blocks(sizeof(Q6_KBlock));
  format_info(Format::kQ6_K).encode_weighted(values, importance, blocks);
  const std::vector<float> decoded = decode(Format::kQ6_K, blocks);
  for (int i = 0; i < 16; ++i) EXPECT_NEAR(decoded[i], values[i], 0.15) << i;
}

TEST(Q6_K, ZerosStayZeros) {
  const std::vector<float> zeros(256, 0.0f);
  EXPECT_EQ(decode(Format::kQ6_K, encode(Format::kQ6_K, zeros)), zeros);
}

// Values become 0 if their scale is below half of the smallest f16; they must not become NaN on the way.
TEST(Q6_K, TinyValuesVanish) {
  for (const float size : {1e-20f, 1e-30f, 1e-42f}) {
    const std::vector<float> decoded = decode(Format::kQ6_K, encode(Format::kQ6_K, Random(6).normals(256, size)));
    EXPECT_EQ(decoded, std::vector<float>(256, 0.0f)) << size;
  }
}

}  // namespace
}  // namespace tern
