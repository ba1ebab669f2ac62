#include "quant/format.h"

#include <gtest/gtest.h>

#include <limits>

#include "quant/quant_test_support.h"

namespace tern {
namespace {

using namespace quant_test;

constexpr uint64_t kTooLarge = std::numeric_limits<uint64_t>::max();

TEST(Format, BytesOfATensor) {
  // BitNet 2B-4T's matrices and embedding, with the sizes of the published file.
  EXPECT_EQ(tensor_bytes(Format::kI2_S, 2560, 2560), 2560u * 2560 / 4 + 32);
  EXPECT_EQ(tensor_bytes(Format::kF16, 128256, 2560), 656'670'720u);
  EXPECT_EQ(tensor_bytes(Format::kF32, 3, 5), 60u);
  EXPECT_EQ(tensor_bytes(Format::kBF16, 3, 5), 30u);
  EXPECT_EQ(tensor_bytes(Format::kQ8_0, 3, 64), 3u * 2 * 34);
  EXPECT_EQ(tensor_bytes(Format::kQ4_0, 3, 64), 3u * 2 * 18);
  EXPECT_EQ(tensor_bytes(Format::kQ6_K, 3, 512), 3u * 2 * 210);
  EXPECT_EQ(tensor_bytes(Format::kTQ1_0, 3, 512), 3u * 2 * 54);
  EXPECT_EQ(tensor_bytes(Format::kTQ2_0, 3, 512), 3u * 2 * 66);
  EXPECT_EQ(tensor_bytes(Format::kI2_S, 0, 128), 32u);
}

// An I2_S row has no tail.
TEST(Format, BytesOfARow) {
  EXPECT_EQ(row_bytes(Format::kI2_S, 2560), 640u);
  EXPECT_EQ(row_bytes(Format::kI2_S, 8640), 68u * 32);  // 67.5 blocks
  EXPECT_EQ(row_bytes(Format::kI2_S, 1), 32u);
  EXPECT_EQ(row_bytes(Format::kQ6_K, 256), 210u);
  EXPECT_EQ(row_bytes(Format::kF32, 7), 28u);
  EXPECT_EQ(row_bytes(Format::kQ8_0, 0), 0u);
}

// A shape from a hostile file must not wrap around to a small size.
TEST(Format, OverflowSaturates) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(row_bytes(Format::kF32, kHuge), kTooLarge);
  EXPECT_EQ(tensor_bytes(Format::kF32, int64_t{1} << 32, int64_t{1} << 32), kTooLarge);
  EXPECT_EQ(tensor_bytes(Format::kF32, 2, kHuge), kTooLarge);
  EXPECT_EQ(tensor_bytes(Format::kI2_S, (int64_t{1} << 34) - 1, int64_t{1} << 32),
            ((1ull << 34) - 1) * (1ull << 30) + 32);
}

TEST(Format, FindsByNameInEitherCase) {
  for (int i = 0; i < kFormatCount; ++i) {
    const FormatInfo& info = format_info(static_cast<Format>(i));
    std::string lower(info.name);
    for (char& c : lower) c = static_cast<char>(std::tolower(c));
    EXPECT_EQ(find_format(info.name), &info);
    EXPECT_EQ(find_format(lower), &info);
  }
  EXPECT_EQ(find_format("i2_s")->format, Format::kI2_S);
  EXPECT_EQ(find_format("tq1_0")->name, "TQ1_0");
  EXPECT_EQ(find_format(""), nullptr);
  EXPECT_EQ(find_format("I2"), nullptr);
  EXPECT_EQ(find_format("I2_S "), nullptr);
}

TEST(Format, TernaryFormatsAreMarked) {
  for (int i = 0; i < kFormatCount; ++i) {
    const auto format = static_cast<Format>(i);
    const bool expected = format == Format::kI2_S || format == Format::kTQ1_0 || format == Format::kTQ2_0;
    EXPECT_EQ(format_info(format).is_ternary, expected) << format_info(format).name;
  }
}

// Blocks are independent and in order, and need no alignment: three blocks at an odd address.
TEST(Format, BlocksAreIndependentAndUnaligned) {
  for (int i = 0; i < kFormatCount; ++i) {
    const FormatInfo& info = format_info(static_cast<Format>(i));
    SCOPED_TRACE(info.name);
    const std::vector<float> values = Random(7).ternary(3 * info.block, 1.0f);
    ByteVector storage(3 * info.block_bytes + 1);
    const MutableBytes odd = MutableBytes(storage).subspan(1);
    info.encode(values, odd);
    for (int b = 0; b < 3; ++b) {
      const auto part = std::span(values).subspan(b * info.block, info.block);
      const Bytes bytes = odd.subspan(b * info.block_bytes, info.block_bytes);
      EXPECT_EQ(encode(info.format, part), ByteVector(bytes.begin(), bytes.end()));
      // These have no zero, or one in four values; their bytes are compared above.
      if (info.format == Format::kQ1_0 || info.format == Format::kSTQ1_0) continue;
      const std::vector<float> decoded = decode(info.format, bytes);
      for (int j = 0; j < info.block; ++j) EXPECT_NEAR(decoded[j], part[j], 0.126);  // one step of Q4_0
    }
  }
}

// No input may cause undefined behavior (run under UBSan): encoders must accept whatever a damaged file holds.
TEST(Format, EncodersSurviveNonFiniteValues) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (int i = 0; i < kFormatCount; ++i) {
    const FormatInfo& info = format_info(static_cast<Format>(i));
    if (info.format == Format::kI2_S) continue;  // accepts only exact codes
    for (const float odd_one : {kInf, -kInf, kNan, 3e38f, 1e-42f}) {
      std::vector<float> values = real_example(info.block);
      values[0] = odd_one;
      EXPECT_EQ(decode(info.format, encode(info.format, values)).size(), values.size());
      EXPECT_EQ(encode(info.format, values), encode(info.format, values)) << info.name << " " << odd_one;
    }
  }
}

// A NaN becomes 0 and does not affect the rest of its block. The tolerance is one step of Q4_0.
TEST(Format, NanLeavesTheOtherValuesAlone) {
  for (const Format format : {Format::kQ8_0, Format::kQ4_0, Format::kQ6_K, Format::kTQ1_0, Format::kTQ2_0}) {
    std::vector<float> values = ternary_example(format_info(format).block);
    values[1] = std::numeric_limits<float>::quiet_NaN();  // was 0
    const std::vector<float> decoded = decode(format, encode(format, values));
    for (size_t j = 0; j < values.size(); ++j) {
      const float expected = j == 1 ? 0.0f : values[j];
      EXPECT_NEAR(decoded[j], expected, 0.0626) << format_info(format).name << " " << j;
    }
  }
}

TEST(FormatDeathTest, RefusesPartOfABlock) {
  EXPECT_DEATH(row_bytes(Format::kTQ2_0, 128), "cols");
  std::vector<float> values(31);
  ByteVector bytes(34);
  EXPECT_DEATH(format_info(Format::kQ8_0).decode(bytes, values), "size");
}

}  // namespace
}  // namespace tern
