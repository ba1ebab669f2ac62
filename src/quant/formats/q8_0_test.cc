#include "quant/formats/q8_0.h"

#include <gtest/gtest.h>

#include "base/half.h"
#include "quant/quant_test_support.h"

namespace tern {
namespace {

using namespace quant_test;

TEST(Q8_0, WorkedExample) {
  const ByteVector block = encode(Format::kQ8_0, real_example(32));
  ASSERT_EQ(block.size(), 34u);
  EXPECT_EQ(ByteVector(block.begin(), block.begin() + 6), from_hex("08 20 | 81 bc f8 33"));
  EXPECT_EQ(decode(Format::kQ8_0, block)[0], -127 * f16_to_f32(0x2008));
}

TEST(Q8_0, EveryPosition) {
  for (int i = 0; i < kQ8_0Block; ++i) {
    ByteVector block = from_hex("00 40") + repeated("00", 32);  // d = 2
    block[2 + i] = std::byte{0x7F};
    ASSERT_EQ(decode(Format::kQ8_0, block), one_hot(32, i, 254.0f)) << i;
    ASSERT_EQ(encode(Format::kQ8_0, one_hot(32, i, 254.0f)), block) << i;
  }
}

TEST(Q8_0, EveryCodeSurvivesTheRoundTrip) {
  for (int first = -127; first <= 95; ++first) {
    std::vector<float> values(32);
    for (int j = 0; j < 32; ++j) values[j] = static_cast<float>(first + j) * 0.25f;
    values[7] = 127 * 0.25f;
    ASSERT_EQ(decode(Format::kQ8_0, encode(Format::kQ8_0, values)), values);
  }
}

// The bound is half a step of rounding, plus 127 steps times the relative error 2^-11 of the f16 scale. The last term
// is for subnormal f16 scales, whose error is up to 2^-25 whatever their size; 1e-6 covers the f32 arithmetic.
TEST(Q8_0, ErrorBound) {
  Random random(2);
  for (const float size : {1e-6f, 1e-4f, 0.02f, 1.0f, 3000.0f}) {
    for (int round = 0; round < 50; ++round) {
      const std::vector<float> values = random.normals(32, size);
      const std::vector<float> decoded = decode(Format::kQ8_0, encode(Format::kQ8_0, values));
      float greatest = 0;
      for (const float x : values) greatest = std::max(greatest, std::fabs(x));
      const float bound = greatest * (0.5f / 127 + 0x1p-11f + 1e-6f) + 127 * 0x1p-25f;
      for (int j = 0; j < 32; ++j) ASSERT_NEAR(decoded[j], values[j], bound) << size;
    }
  }
}

TEST(Q8_0, ZerosStayZeros) { EXPECT_EQ(encode(Format::kQ8_0, std::vector<float>(32, 0.0f)), repeated("00", 34)); }

TEST(Q8_0, SubnormalScaleIsExact) {
  const ByteVector block = from_hex("01 00 | 80") + repeated("01", 31);  // d = 2^-24
  std::vector<float> expected(32, 0x1p-24f);
  expected[0] = -128 * 0x1p-24f;
  EXPECT_EQ(decode(Format::kQ8_0, block), expected);
}

}  // namespace
}  // namespace tern
