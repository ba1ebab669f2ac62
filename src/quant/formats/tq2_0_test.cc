#include "quant/formats/tq2_0.h"

#include <gtest/gtest.h>

#include "quant/quant_test_support.h"

namespace tern {
namespace {

using namespace quant_test;

TEST(TQ2_0, WorkedExample) {
  const ByteVector expected = repeated("18 61 86", 64) + from_hex("00 38");
  EXPECT_EQ(encode(Format::kTQ2_0, ternary_example(256)), expected);
  EXPECT_EQ(decode(Format::kTQ2_0, expected), ternary_example(256));
}

TEST(TQ2_0, EveryPosition) {
  constexpr int kShifts[4] = {0, 2, 4, 6};
  for (int i = 0; i < kTq2_0Block; ++i) {
    for (const int value : {-1, 1, 2}) {
      ByteVector block = repeated("55", 64) + from_hex("00 40");  // d = 2, all zeros
      const int shift = kShifts[i % 128 / 32];
      std::byte& byte = block[i / 128 * 32 + i % 32];
      byte = (byte & ~static_cast<std::byte>(3 << shift)) | static_cast<std::byte>((value + 1) << shift);
      const std::vector<float> expected = one_hot(256, i, 2.0f * static_cast<float>(value));
      ASSERT_EQ(decode(Format::kTQ2_0, block), expected) << i;
      if (value == 2) continue;  // the quantizer writes no code 3
      ASSERT_EQ(encode(Format::kTQ2_0, expected), block) << i;
    }
  }
}

TEST(TQ2_0, RandomTernarySurvivesTheRoundTrip) {
  const std::vector<float> values = Random(9).ternary(64 * 256, 0.375f);
  EXPECT_EQ(decode(Format::kTQ2_0, encode(Format::kTQ2_0, values)), values);
}

TEST(TQ2_0, ZerosStayZeros) {
  const std::vector<float> zeros(256, 0.0f);
  EXPECT_EQ(decode(Format::kTQ2_0, encode(Format::kTQ2_0, zeros)), zeros);
}

}  // namespace
}  // namespace tern
