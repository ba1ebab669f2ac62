#include "quant/formats/stq1_0.h"

#include <gtest/gtest.h>

#include "quant/quant_test_support.h"

namespace tern {
namespace {

using namespace quant_test;

// The lanes of every index sign · 16 + slot, two bits each from lane 0 up, as llama.cpp's table has them.
constexpr uint8_t kLanesOf[32] = {0xA9, 0x89, 0x29, 0x09, 0xA6, 0x86, 0x26, 0x06, 0x9A, 0x92, 0x1A,
                                  0x12, 0x6A, 0x62, 0x4A, 0x42, 0x01, 0x21, 0x81, 0xA1, 0x04, 0x24,
                                  0x84, 0xA4, 0x10, 0x18, 0x90, 0x98, 0x40, 0x48, 0x60, 0x68};

TEST(STQ1_0, WorkedExample) {
  std::vector<float> values(256);
  for (size_t i = 0; i < values.size(); ++i) {
    constexpr float kOfLane[] = {0, 0.5f, -0.5f, 0.5f};
    values[i] = kOfLane[i % 64 / 16];
  }
  const ByteVector block = repeated("11", 32) + repeated("00", 8) + from_hex("00 38");
  EXPECT_EQ(encode(Format::kSTQ1_0, values), block);
  EXPECT_EQ(decode(Format::kSTQ1_0, block), values);
}

// Every index in every group.
TEST(STQ1_0, DecodesByTheTable) {
  for (int g = 0; g < 64; ++g) {
    for (int index = 0; index < 32; ++index) {
      ByteVector block = repeated("00", 40) + from_hex("00 40");  // d = 2
      block[static_cast<size_t>(g / 2)] = static_cast<std::byte>(index % 16 << 4 * (g % 2));
      block[static_cast<size_t>(32 + g / 8)] = static_cast<std::byte>(index / 16 << g % 8);
      const std::vector<float> values = decode(Format::kSTQ1_0, block);
      for (int w = 0; w < 256; ++w) {
        const bool is_of_group = 16 * (w / 64) + w % 16 == g;
        const int code = kLanesOf[is_of_group ? index : 0] >> 2 * (w % 64 / 16) & 3;
        ASSERT_EQ(values[static_cast<size_t>(w)], 2.0f * static_cast<float>(code - 1))
            << g << ", " << index << ", " << w;
      }
      ASSERT_EQ(encode(Format::kSTQ1_0, values), block);
    }
  }
}

TEST(STQ1_0, TheLeastOfFourBecomesZero) {
  std::vector<float> values(256, 1.0f);
  values[17] = -0.25f;  // lane 1 of group 1
  const std::vector<float> decoded = decode(Format::kSTQ1_0, encode(Format::kSTQ1_0, values));
  EXPECT_EQ(decoded[17], 0);
  EXPECT_EQ(decoded[1], 1);
  EXPECT_EQ(decoded[0], 0);  // the first of equals
}

}  // namespace
}  // namespace tern
