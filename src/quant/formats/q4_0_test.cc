#include "quant/formats/q4_0.h"

#include <gtest/gtest.h>

#include "quant/quant_test_support.h"

namespace tern {
namespace {

using namespace quant_test;

TEST(Q4_0, WorkedExample) {
  const ByteVector block = encode(Format::kQ4_0, real_example(32));
  ASSERT_EQ(block.size(), 18u);
  EXPECT_EQ(ByteVector(block.begin(), block.begin() + 6), from_hex("00 30 | a0 e4 17 5b"));
  const std::vector<float> decoded = decode(Format::kQ4_0, block);
  EXPECT_EQ(decoded[0], -1.0f);
  EXPECT_EQ(decoded[16], 0.25f);
}

TEST(Q4_0, EveryPosition) {
  for (int i = 0; i < kQ4_0Block; ++i) {
    ByteVector block = from_hex("00 40") + repeated("88", 16);  // d = 2, all zeros
    block[2 + i % 16] = i < 16 ? std::byte{0x80} : std::byte{0x08};
    ASSERT_EQ(decode(Format::kQ4_0, block), one_hot(32, i, -16.0f)) << i;
    ASSERT_EQ(encode(Format::kQ4_0, one_hot(32, i, -16.0f)), block) << i;
  }
}

TEST(Q4_0, EveryCodeSurvivesTheRoundTrip) {
  for (const float d : {0.5f, -0.5f}) {
    std::vector<float> values(32);
    for (int j = 0; j < 32; ++j) values[j] = d * static_cast<float>(j % 16 - 8);
    EXPECT_EQ(decode(Format::kQ4_0, encode(Format::kQ4_0, values)), values);
  }
}

// The sign opposite to the largest value has only 7 steps, so a value just below 8 steps loses a whole one; all others
// round within half a step. 8 steps times 2^-11 is the rounding of the f16 scale, 1e-6 the f32 arithmetic.
TEST(Q4_0, ErrorBound) {
  Random random(3);
  for (const float size : {0.002f, 1.0f, 3000.0f}) {
    for (int round = 0; round < 100; ++round) {
      const std::vector<float> values = random.normals(32, size);
      const std::vector<float> decoded = decode(Format::kQ4_0, encode(Format::kQ4_0, values));
      float greatest = 0;
      for (const float x : values) greatest = std::fabs(x) > std::fabs(greatest) ? x : greatest;
      const float step = std::fabs(greatest) / 8;
      for (int j = 0; j < 32; ++j) {
        const bool at_the_short_end = values[j] / -greatest > 7.5f / 8;
        const float bound = step * ((at_the_short_end ? 1.0f : 0.5f) + 8 * 0x1p-11f + 1e-6f);
        ASSERT_NEAR(decoded[j], values[j], bound) << size << " " << j;
      }
    }
  }
}

TEST(Q4_0, ZerosStayZeros) {
  const std::vector<float> zeros(32, 0.0f);
  EXPECT_EQ(decode(Format::kQ4_0, encode(Format::kQ4_0, zeros)), zeros);
}

}  // namespace
}  // namespace tern
