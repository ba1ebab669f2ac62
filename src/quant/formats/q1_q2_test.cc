#include <gtest/gtest.h>

#include "quant/formats/q1_0.h"
#include "quant/formats/q2_0.h"
#include "quant/quant_test_support.h"

namespace tern {
namespace {

using namespace quant_test;

TEST(Q1_0, WorkedExample) {
  std::vector<float> values(kQ1_0Block);
  for (size_t j = 0; j < values.size(); ++j) values[j] = j % 3 == 0 ? -0.5f : 0.5f;
  const ByteVector expected = from_hex("00 38") + repeated("b6 6d db", 16);
  EXPECT_EQ(encode(Format::kQ1_0, values), expected);
  EXPECT_EQ(decode(Format::kQ1_0, expected), values);
}

TEST(Q1_0, EveryPosition) {
  for (int i = 0; i < kQ1_0Block; ++i) {
    ByteVector block = from_hex("00 40") + repeated("00", 16);  // d = 2
    block[static_cast<size_t>(2 + i / 8)] = static_cast<std::byte>(1 << i % 8);
    std::vector<float> expected(kQ1_0Block, -2.0f);
    expected[static_cast<size_t>(i)] = 2.0f;
    ASSERT_EQ(decode(Format::kQ1_0, block), expected) << i;
    ASSERT_EQ(encode(Format::kQ1_0, expected), block) << i;
  }
}

TEST(PQ2_0, WorkedExample) {
  const ByteVector expected = from_hex("00 38") + repeated("24 49 92", 32);
  EXPECT_EQ(encode(Format::kPQ2_0, ternary_example(128)), expected);
  EXPECT_EQ(decode(Format::kPQ2_0, expected), ternary_example(128));
}

TEST(Q2_0, WorkedExample) {
  const ByteVector expected = from_hex("00 38") + repeated("24 49 92", 16);
  EXPECT_EQ(encode(Format::kQ2_0, ternary_example(64)), expected);
  EXPECT_EQ(decode(Format::kQ2_0, expected), ternary_example(64));
}

TEST(Q2_0, EveryPosition) {
  for (const Format format : {Format::kQ2_0, Format::kPQ2_0}) {
    const int n = format_info(format).block;
    for (int i = 0; i < n; ++i) {
      for (const int value : {-1, 1, 2}) {
        ByteVector block = from_hex("00 40") + repeated("55", static_cast<size_t>(n / 4));  // d = 2, all zeros
        std::byte& byte = block[static_cast<size_t>(2 + i / 4)];
        const int shift = 2 * (i % 4);
        byte = (byte & ~static_cast<std::byte>(3 << shift)) | static_cast<std::byte>((value + 1) << shift);
        const std::vector<float> expected = one_hot(n, i, 2.0f * static_cast<float>(value));
        ASSERT_EQ(decode(format, block), expected) << i;
        if (value == 2) continue;  // the quantizer writes no code 3
        ASSERT_EQ(encode(format, expected), block) << i;
      }
    }
  }
}

}  // namespace
}  // namespace tern
