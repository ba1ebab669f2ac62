#include "base/half.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tern {
namespace {

// Every one of the 65,536 halves survives the round trip through float, except NaN payloads.
TEST(Half, EveryF16RoundTrips) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = f16_to_f32(static_cast<uint16_t>(bits));
    const uint16_t back = f32_to_f16(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(f16_to_f32(back)));
    } else {
      ASSERT_EQ(back, bits) << value;
    }
  }
}

TEST(Half, KnownF16Values) {
  EXPECT_EQ(f16_to_f32(0x3C00), 1.0f);
  EXPECT_EQ(f16_to_f32(0x0001), 0x1p-24f);
  EXPECT_EQ(f16_to_f32(0x83FF), -0x1.FF8p-15f);
  EXPECT_EQ(f16_to_f32(0x7BFF), 65504.0f);
  EXPECT_EQ(f32_to_f16(65519.0f), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7C00);
  EXPECT_EQ(f32_to_f16(-1e30f), 0xFC00);
  EXPECT_EQ(f32_to_f16(0x1p-25f), 0x0000);  // half of the smallest subnormal: tie to even
  EXPECT_EQ(f32_to_f16(0x1.000002p-25f), 0x0001);
  EXPECT_EQ(f32_to_f16(1.0f + 0x1p-11f), 0x3C00);  // tie to even
  EXPECT_EQ(f32_to_f16(1.0f + 0x3p-11f), 0x3C02);
}

#ifdef __FLT16_MANT_DIG__
TEST(Half, AgreesWithTheCompilersHalf) {
  uint32_t bits = 1;
  for (int i = 0; i < 200000; ++i) {
    bits = bits * 1664525u + 1013904223u;
    const float value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;
    ASSERT_EQ(f32_to_f16(value), std::bit_cast<uint16_t>(static_cast<_Float16>(value))) << value;
  }
}
#endif

TEST(Half, Bf16RoundsToNearestEven) {
  EXPECT_EQ(f32_to_bf16(1.0f), 0x3F80);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3F808000u)), 0x3F80);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3F818000u)), 0x3F82);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3F808001u)), 0x3F81);
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(NAN))));
  EXPECT_EQ(bf16_to_f32(0xC040), -3.0f);
}

}  // namespace
}  // namespace tern
