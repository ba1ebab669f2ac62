#include "quant/formats/plain_float.h"

#include <gtest/gtest.h>

#include <limits>

#include "quant/quant_test_support.h"

namespace tern {
namespace {

using namespace quant_test;

TEST(PlainFloat, WorkedExamples) {
  const std::vector<float> values = {1.0f, -2.5f};
  EXPECT_EQ(encode(Format::kF32, values), from_hex("0000803f 000020c0"));
  EXPECT_EQ(encode(Format::kF16, values), from_hex("003c 00c1"));
  EXPECT_EQ(encode(Format::kBF16, values), from_hex("803f 20c0"));
  EXPECT_EQ(decode(Format::kF32, from_hex("0000803f 000020c0")), values);
  EXPECT_EQ(decode(Format::kF16, from_hex("003c 00c1")), values);
  EXPECT_EQ(decode(Format::kBF16, from_hex("803f 20c0")), values);
}

TEST(PlainFloat, EveryPosition) {
  for (const Format format : {Format::kF32, Format::kF16, Format::kBF16}) {
    for (int i = 0; i < 9; ++i) {
      const std::vector<float> values = one_hot(9, i, -0.5f);
      EXPECT_EQ(decode(format, encode(format, values)), values);
    }
  }
}

// The error is at most half a unit in the last place: 11 significant bits for F16, 8 for BF16.
TEST(PlainFloat, ErrorBound) {
  const std::vector<float> values = Random(10).normals(1000, 2.0f);
  const std::vector<float> f16 = decode(Format::kF16, encode(Format::kF16, values));
  const std::vector<float> bf16 = decode(Format::kBF16, encode(Format::kBF16, values));
  EXPECT_EQ(decode(Format::kF32, encode(Format::kF32, values)), values);
  for (size_t j = 0; j < values.size(); ++j) {
    // 2^-25: half a unit of subnormal F16 numbers.
    ASSERT_NEAR(f16[j], values[j], std::fabs(values[j]) * 0x1p-11f + 0x1p-25f);
    ASSERT_NEAR(bf16[j], values[j], std::fabs(values[j]) * 0x1p-8f);
  }
}

TEST(PlainFloat, NoValues) {
  for (const Format format : {Format::kF32, Format::kF16, Format::kBF16}) EXPECT_TRUE(encode(format, {}).empty());
}

}  // namespace
}  // namespace tern
