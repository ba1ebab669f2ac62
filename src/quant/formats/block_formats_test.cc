// Tests what all formats given as types have in common, and the worked examples of those without a test file.
#include "quant/formats/block_formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "quant/block_format.h"
#include "quant/quant_test_support.h"

namespace tern {
namespace {

using namespace quant_test;

constexpr uint16_t kQuarter = 0x3400, kHalfOfOne = 0x3800, kMinusThree = 0xC200;

// Calls body(type) for every format that has `pack`.
template <class Body, class... F>
void for_packed(const Body& body, FormatList<F...> /*formats*/) {
  const auto call = [&]<class T>(T type) {
    if constexpr (requires(const BlockParts& parts) { T::pack(parts); }) body(type);
  };
  (call(F()), ...);
}

BlockParts random_parts(const Coding& coding, Random& random) {
  BlockParts parts = {};
  parts.d = static_cast<uint16_t>(random.below(0x7C00));
  if (coding.has_mins) parts.dmin = static_cast<uint16_t>(random.below(0x7C00));
  for (uint8_t& code : parts.codes) code = static_cast<uint8_t>(random.below(coding.n_codes));
  if (!coding.has_scales()) return parts;
  for (int8_t& scale : parts.scales) {
    scale = static_cast<int8_t>(coding.least_scale + random.below(coding.most_scale - coding.least_scale + 1));
  }
  if (!coding.has_mins) return parts;
  for (uint8_t& min : parts.mins) min = static_cast<uint8_t>(random.below(coding.most_scale + 1));
  return parts;
}

TEST(BlockFormats, PackIsTheReverseOfUnpack) {
  int seen = 0;
  for_packed(
      [&]<class F>(F) {
        SCOPED_TRACE(F::kId.name);
        Random random(7);
        for (int i = 0; i < 50; ++i) {
          const BlockParts parts = random_parts(F::kCoding, random);
          BlockParts again = {};
          F::unpack(F::pack(parts), again);
          EXPECT_EQ(again.d, parts.d);
          EXPECT_EQ(again.dmin, parts.dmin);
          const auto n_groups = F::kCoding.has_scales() ? F::kValues / F::kCoding.group : 0;
          EXPECT_TRUE(std::equal(parts.scales, parts.scales + n_groups, again.scales));
          EXPECT_TRUE(F::kCoding.has_mins ? std::equal(parts.mins, parts.mins + n_groups, again.mins) : true);
          EXPECT_TRUE(std::equal(parts.codes, parts.codes + F::kValues, again.codes));
        }
        ++seen;
      },
      BlockFormats());
  EXPECT_EQ(seen, 9);
}

// With a few columns of high importance, the weighted encoder makes Σ weight·error² smaller than the plain one. If all
// importances are 0, nothing is lost.
TEST(BlockFormats, WeightsMakeTheirErrorSmaller) {
  int seen = 0;
  for (const FormatInfo& info : formats()) {
    if (!info.encode_weighted) continue;
    SCOPED_TRACE(info.name);
    Random random(11);
    std::vector<float> values = random.normals(64 * 256, 0.03f), weights(values.size());
    for (float& weight : weights) weight = std::exp(3 * random.normal());
    const auto error_of = [&](const std::vector<float>& packed) {
      double error = 0;
      for (size_t i = 0; i < values.size(); ++i) error += weights[i] * std::pow(packed[i] - values[i], 2);
      return error;
    };
    const auto weighted_with = [&](const std::vector<float>& importance) {
      ByteVector blocks(values.size() / info.block * info.block_bytes);
      info.encode_weighted(values, importance, blocks);
      return decode(info.format, blocks);
    };
    const std::vector<float> plain = decode(info.format, encode(info.format, values));
    EXPECT_LT(error_of(weighted_with(weights)), 0.8 * error_of(plain));
    EXPECT_LT(error_of(weighted_with(std::vector<float>(values.size(), 0.0f))), 1.01 * error_of(plain));
    ++seen;
  }
  EXPECT_EQ(seen, 10);
}

template <class F>
float value_at(const typename F::Block& block, size_t i) {
  BlockParts parts = {};
  float values[F::kValues];
  F::unpack(block, parts);
  values_of(F::kCoding, parts, values);
  return values[i];
}

TEST(BlockFormats, WorkedExamples) {
  Q4_K::Block q4_k = {.d = kQuarter, .dmin = kHalfOfOne, .scales = {0, 3, 0, 0, 0, 2}, .nibbles = {}};
  q4_k.nibbles[8] = 0x90;
  EXPECT_EQ(value_at<Q4_K>(q4_k, 40), 5.75f);
  Q5_K::Block q5_k = {.d = kQuarter, .dmin = kHalfOfOne, .scales = {0, 3, 0, 0, 0, 2}, .high = {}, .nibbles = {}};
  q5_k.nibbles[8] = 0x90;
  q5_k.high[8] = 2;
  EXPECT_EQ(value_at<Q5_K>(q5_k, 40), 0.25f * 3 * 25 - 1);
  Q2_K::Block q2_k = {.scales = {0, 0, 0, 0, 0x25}, .codes = {}, .d = kQuarter, .dmin = kHalfOfOne};
  q2_k.codes[6] = 0x30;
  EXPECT_EQ(value_at<Q2_K>(q2_k, 70), 2.75f);
  Q3_K::Block q3_k = {.high = {}, .low = {}, .scales = {0, 0, 0, 0, 5, 0, 0, 0, 8}, .d = kQuarter};
  q3_k.low[6] = 0x20;
  q3_k.high[6] = 4;
  EXPECT_EQ(value_at<Q3_K>(q3_k, 70), 2.5f);
  Q4_1::Block q4_1 = {.d = kHalfOfOne, .m = kMinusThree, .nibbles = {0, 0, 0x7C}};
  EXPECT_EQ(value_at<Q4_1>(q4_1, 2), 3.0f);
  EXPECT_EQ(value_at<Q4_1>(q4_1, 18), 0.5f);
  Q5_0::Block q5_0 = {.d = kHalfOfOne, .high = {0, 0, 4}, .nibbles = {0, 0, 0x7C}};
  EXPECT_EQ(value_at<Q5_0>(q5_0, 2), -2.0f);
  EXPECT_EQ(value_at<Q5_0>(q5_0, 18), 3.5f);
  Q5_1::Block q5_1 = {.d = kHalfOfOne, .m = kMinusThree, .high = {0, 0, 4}, .nibbles = {0, 0, 0x7C}};
  EXPECT_EQ(value_at<Q5_1>(q5_1, 18), 0.5f * 23 - 3);
  IQ4_NL::Block iq4_nl = {.d = kHalfOfOne, .nibbles = {0, 0, 0x0F}};
  EXPECT_EQ(value_at<IQ4_NL>(iq4_nl, 2), 56.5f);
  EXPECT_EQ(value_at<IQ4_NL>(iq4_nl, 18), -63.5f);
  MXFP4::Block mxfp4 = {.exponent = 127, .nibbles = {0, 0, 0xD3}};
  EXPECT_EQ(value_at<MXFP4>(mxfp4, 2), 1.5f);
  EXPECT_EQ(value_at<MXFP4>(mxfp4, 18), -3.0f);
  IQ4_XS::Block iq4_xs = {.d = kQuarter, .high = 2 << 4, .low = {0, 5}, .nibbles = {}};
  iq4_xs.nibbles[38] = 0x09;
  EXPECT_EQ(value_at<IQ4_XS>(iq4_xs, 70), 16.25f);
}

// Tern has no other reader of PTQ1_0, so its bytes are spelled out; all ternary values survive.
TEST(BlockFormats, PTQ1_0) {
  const std::vector<float> example = ternary_example(128);
  const ByteVector bytes = repeated("31 94 bb", 16) + repeated("cf 45 6c", 8) + from_hex("43 6c | 00 38");
  EXPECT_EQ(encode(Format::kPTQ1_0, example), bytes);
  EXPECT_EQ(decode(Format::kPTQ1_0, bytes), example);
  const std::vector<float> values = Random(3).ternary(3 * 128, 0.375f);
  EXPECT_EQ(decode(Format::kPTQ1_0, encode(Format::kPTQ1_0, values)), values);
}

// Encoding puts a value where decoding finds it, and changes no other value.
TEST(BlockFormats, OneValueSurvivesTheRoundTrip) {
  for (const FormatInfo& format : formats()) {
    // No level of these formats is 0, or only one in four values.
    if (format.coding.levels || !format.coding.has_codes() || format.format == Format::kSTQ1_0) continue;
    for (int i = 0; i < format.block; ++i) {
      const std::vector<float> values = one_hot(format.block, i, 1.0f);
      const std::vector<float> decoded = decode(format.format, encode(format.format, values));
      for (int j = 0; j < format.block; ++j) ASSERT_NEAR(decoded[j], values[j], 0.01) << format.name << " " << i;
    }
  }
}

// More codes give a smaller error, whatever else differs between the formats.
TEST(BlockFormats, MoreBitsAreMoreAccurate) {
  const std::vector<float> values = Random(5).normals(2048, 1);
  const auto error = [&](Format format) {
    const std::vector<float> decoded = decode(format, encode(format, values));
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += std::pow(decoded[i] - values[i], 2);
    return sum / static_cast<double>(values.size());
  };
  constexpr Format kByError[] = {Format::kQ8_0, Format::kQ6_K, Format::kQ5_K,
                                 Format::kQ4_K, Format::kQ3_K, Format::kQ2_K};
  for (size_t i = 1; i < std::size(kByError); ++i) {
    EXPECT_GT(error(kByError[i]), 2 * error(kByError[i - 1])) << format_info(kByError[i]).name;
  }
  EXPECT_LT(error(Format::kQ5_1), error(Format::kQ4_1));
  EXPECT_LT(error(Format::kIQ4_NL), error(Format::kQ4_0));
  EXPECT_LT(error(Format::kIQ4_XS), error(Format::kQ4_0));
}

}  // namespace
}  // namespace tern
