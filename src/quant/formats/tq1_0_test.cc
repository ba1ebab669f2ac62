#include "quant/formats/tq1_0.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "quant/quant_test_support.h"

namespace tern {
namespace {

using namespace quant_test;

constexpr int kPowerOf3[5] = {81, 27, 9, 3, 1};

// The byte whose digits are all 1 except digit n.
std::byte byte_with(int n_digits, int n, int digit) {
  int number = 0;
  for (int k = 0; k < n_digits; ++k) number += kPowerOf3[k] * (k == n ? digit : 1);
  return static_cast<std::byte>((number * 256 + 242) / 243);
}

TEST(TQ1_0, WorkedExample) {
  const ByteVector expected = repeated("45 6c cf", 32) + repeated("94 bb 31", 16) + from_hex("30 92 bb 30 | 00 38");
  EXPECT_EQ(encode(Format::kTQ1_0, ternary_example(256)), expected);
  EXPECT_EQ(decode(Format::kTQ1_0, expected), ternary_example(256));
}

TEST(TQ1_0, EveryPosition) {
  const ByteVector zeros = repeated("80", 48) + repeated("7f", 4) + from_hex("00 40");  // d = 2
  for (int i = 0; i < kTq1_0Block; ++i) {
    for (const int value : {-1, 1}) {
      ByteVector block = zeros;
      if (i < 160) {
        block[i % 32] = byte_with(5, i / 32, value + 1);
      } else if (i < 240) {
        block[32 + i % 16] = byte_with(5, (i - 160) / 16, value + 1);
      } else {
        block[48 + i % 4] = byte_with(4, (i - 240) / 4, value + 1);
      }
      const std::vector<float> expected = one_hot(256, i, 2.0f * static_cast<float>(value));
      ASSERT_EQ(decode(Format::kTQ1_0, block), expected) << i;
      ASSERT_EQ(encode(Format::kTQ1_0, expected), block) << i;
    }
  }
}

// All 243 combinations of five digits, in every byte.
TEST(TQ1_0, EveryDigitCombination) {
  for (int number = 0; number < 243; ++number) {
    std::vector<float> values(256, 0.0f);
    values[255] = 1.0f;
    for (int m = 0; m < 32; ++m) {
      for (int n = 0; n < 5; ++n) values[n * 32 + m] = static_cast<float>((number + m) % 243 / kPowerOf3[n] % 3 - 1);
    }
    ASSERT_EQ(decode(Format::kTQ1_0, encode(Format::kTQ1_0, values)), values) << number;
  }
}

TEST(TQ1_0, RandomTernarySurvivesTheRoundTrip) {
  const std::vector<float> values = Random(8).ternary(64 * 256, 0.375f);
  EXPECT_EQ(decode(Format::kTQ1_0, encode(Format::kTQ1_0, values)), values);
}

// Random bytes include those that no digits produce; the scales have either sign or are 0.
TEST(TQ1_0, CodesAreTheSignsOfTheValues) {
  Random random(9);
  ByteVector blocks(3 * 64 * sizeof(Tq1_0Block));
  for (std::byte& byte : blocks) byte = static_cast<std::byte>(random.below(256));
  for (size_t b = 0; b < 3 * 64; ++b) {
    constexpr uint16_t kScales[] = {0x3800, 0xB800, 0x0000};  // 0.5, −0.5, 0
    std::memcpy(blocks.data() + b * sizeof(Tq1_0Block) + offsetof(Tq1_0Block, d), &kScales[b % 3], sizeof(uint16_t));
  }
  const std::vector<float> values = decode(Format::kTQ1_0, blocks);
  std::vector<uint8_t> codes(values.size());
  decode_tq1_0_codes(blocks, codes);
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(0.5f * static_cast<float>(codes[i] - 1), values[i]) << i;
}

TEST(TQ1_0, ZerosStayZeros) {
  const std::vector<float> zeros(256, 0.0f);
  EXPECT_EQ(decode(Format::kTQ1_0, encode(Format::kTQ1_0, zeros)), zeros);
}

}  // namespace
}  // namespace tern
