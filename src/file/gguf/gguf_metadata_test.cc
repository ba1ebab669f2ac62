#include <cmath>
#include <limits>

#include "base/text/format_text.h"
#include "file/gguf/gguf_test_support.h"

namespace tern {
namespace {

using enum ErrorCode;
using namespace std::string_view_literals;

// Expects that a look-up fails with a message that names the key and the expected type.
template <class T>
void expect_wrong(const Result<std::optional<T>>& result, std::string_view part) {
  ASSERT_FALSE(result) << part;
  EXPECT_EQ(result.error().code, kCorruption);
  EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
  EXPECT_NE(result.error().message.find("'k'"), std::string::npos) << result.error().message;
}

GgufBytes one_value() { return GgufBytes(0, 1); }

TEST(GgufMetadata, ReadsEveryScalarKind) {
  GgufBytes bytes(0, 12);
  bytes.scalar<uint8_t>("u8", 0, 200).scalar<int8_t>("i8", 1, -100).scalar<uint16_t>("u16", 2, 60000);
  bytes.scalar<int16_t>("i16", 3, -30000)
      .scalar<uint32_t>("u32", 4, 4000000000u)
      .scalar<int32_t>("i32", 5, -2000000000);
  bytes.scalar<float>("f32", 6, 0.1f).scalar<uint8_t>("bool", 7, 1).string("string", "héllo");
  bytes.scalar<uint64_t>("u64", 10, 1ull << 40).scalar<int64_t>("i64", 11, -(1ll << 40)).scalar<double>("f64", 12, 0.1);
  const auto file = bytes.parse();
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->get_int("u8").value(), 200);
  EXPECT_EQ(file->get_int("i8").value(), -100);
  EXPECT_EQ(file->get_int("u16").value(), 60000);
  EXPECT_EQ(file->get_int("i16").value(), -30000);
  EXPECT_EQ(file->get_int("u32").value(), 4000000000);
  EXPECT_EQ(file->get_int("i32").value(), -2000000000);
  EXPECT_EQ(file->get_int("bool").value(), 1);
  EXPECT_EQ(file->get_int("u64").value(), 1ll << 40);
  EXPECT_EQ(file->get_int("i64").value(), -(1ll << 40));
  EXPECT_EQ(file->get_float("f32").value(), static_cast<double>(0.1f));
  EXPECT_EQ(file->get_float("f64").value(), 0.1);
  EXPECT_EQ(file->get_float("u32").value(), 4e9);
  EXPECT_EQ(file->get_bool("bool").value(), true);
  EXPECT_EQ(file->get_string("string").value(), "héllo");
  EXPECT_EQ(file->get_int("absent").value(), std::nullopt);
  EXPECT_EQ(file->get_strings("absent").value(), std::nullopt);
  EXPECT_EQ(file->metadata().size(), 12u);
  EXPECT_EQ(file->metadata()[8].first, "string");
}

TEST(GgufMetadata, ReadsArrays) {
  GgufBytes bytes(0, 6);
  bytes.array("strings", 8, 3).text("a").text("").text("ccc");
  bytes.array("ints", 5, 2).put<int32_t>(-7).put<int32_t>(8);
  bytes.array("floats", 6, 2).put<float>(0.5f).put<float>(-2.0f);
  bytes.array("bools", 7, 3).put<uint8_t>(0).put<uint8_t>(1).put<uint8_t>(255);
  bytes.array("none", 8, 0);
  bytes.array("doubles", 12, 1).put<double>(0.25);
  const auto file = bytes.parse();
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->get_strings("strings").value(), (std::vector{"a"sv, ""sv, "ccc"sv}));
  EXPECT_EQ(file->get_ints("ints").value(), (std::vector<int64_t>{-7, 8}));
  EXPECT_EQ(file->get_floats("floats").value(), (std::vector{0.5f, -2.0f}));
  EXPECT_EQ(file->get_floats("ints").value(), (std::vector{-7.0f, 8.0f}));
  EXPECT_EQ(file->get_ints("bools").value(), (std::vector<int64_t>{0, 1, 1}));
  EXPECT_EQ(file->get_strings("none").value(), std::vector<std::string_view>{});
  EXPECT_EQ(file->get_floats("doubles").value(), std::vector{0.25f});
  EXPECT_EQ(file->find("strings")->count, 3u);
  EXPECT_EQ(file->find("strings")->data.size(), 3u * 8 + 4);
}

TEST(GgufMetadata, AnyBitMakesABoolTrue) {
  const auto bytes = one_value().scalar<uint8_t>("k", 7, 0x80);
  const auto file = bytes.parse();
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->get_bool("k").value(), true);
  EXPECT_EQ(file->get_int("k").value(), 1);
}

TEST(GgufMetadata, LookUpsRefuseOtherKinds) {
  const auto text_bytes = one_value().string("k", "x");
  const auto text = text_bytes.parse().value();
  expect_wrong(text.get_int("k"), "is a value of kind string, but an integer is needed");
  expect_wrong(text.get_float("k"), "a number is needed");
  expect_wrong(text.get_bool("k"), "a bool is needed");
  expect_wrong(text.get_strings("k"), "an array of strings is needed");
  const auto array_bytes = one_value().array("k", 4, 1).put<uint32_t>(1);
  const auto array = array_bytes.parse().value();
  expect_wrong(array.get_int("k"), "is an array of u32, but an integer is needed");
  expect_wrong(array.get_string("k"), "a string is needed");
  expect_wrong(array.get_strings("k"), "an array of strings is needed");
  const auto float_bytes = one_value().scalar<float>("k", 6, 1.0f);
  const auto number = float_bytes.parse().value();
  expect_wrong(number.get_int("k"), "an integer is needed");
  expect_wrong(number.get_ints("k"), "an array of integers is needed");
  expect_wrong(number.get_floats("k"), "an array of numbers is needed");
  const auto floats_bytes = one_value().array("k", 6, 1).put<float>(1.0f);
  expect_wrong(floats_bytes.parse().value().get_ints("k"), "an array of integers is needed");
}

TEST(GgufMetadata, IntegersBeyondInt64AreRefused) {
  const auto scalar_bytes = one_value().scalar<uint64_t>("k", 10, 1ull << 63);
  const auto scalar = scalar_bytes.parse().value();
  expect_wrong(scalar.get_int("k"), "exceeds 2^63 - 1");
  EXPECT_EQ(scalar.get_float("k").value(), 0x1p63);
  const auto array_bytes = one_value().array("k", 10, 2).put<uint64_t>(1).put<uint64_t>(~0ull);
  expect_wrong(array_bytes.parse().value().get_ints("k"), "exceeds 2^63 - 1");
}

TEST(GgufMetadata, RefusesDoubledKeysUnknownKindsAndNestedArrays) {
  expect_refused(GgufBytes(0, 2).scalar<uint32_t>("k", 4, 1).scalar<uint32_t>("k", 4, 2).parse(), kCorruption,
                 "metadata 'k' at byte 41 appears twice");
  expect_refused(one_value().scalar<uint64_t>("k", 13, 1).parse(), kCorruption, "unknown kind 13 at byte 33");
  expect_refused(one_value().array("k", 77, 0).parse(), kCorruption, "unknown kind 77 at byte 37");
  expect_refused(one_value().array("k", 9, 0).parse(), kNotSupported, "is an array of arrays");
}

TEST(GgufMetadata, ChecksLengthsAgainstWhatRemains) {
  expect_refused(one_value().put<uint64_t>(1ull << 63).data(16).parse(), kCorruption,
                 "the key of metadata entry 1 of 1 at byte 32 needs 9223372036854775808 bytes");
  expect_refused(one_value().put<uint64_t>(~0ull).data(16).parse(), kCorruption, "the download may be incomplete");
  expect_refused(one_value().key("k", 8).put<uint64_t>(5).raw("abcd").parse(), kCorruption,
                 "the value of 'k' at byte 45 needs 5 bytes, but the file ends 4 bytes later (1 are missing)");
  expect_refused(one_value().key("k", 10).put<uint32_t>(5).parse(), kCorruption, "the value of 'k'");
  expect_refused(one_value().array("k", 4, 1ull << 61).parse(), kCorruption,
                 "promises 2305843009213693952 values of kind u32");
  expect_refused(one_value().array("k", 0, 5).raw("abcd").parse(), kCorruption, "promises 5 values of kind u8");
  expect_refused(one_value().array("k", 8, ~0ull).data(64).parse(), kCorruption, "values of kind string");
  expect_refused(one_value().array("k", 8, 2).text("").put<uint64_t>(~0ull - 7).parse(), kCorruption, "'k'[1]");
}

TEST(GgufMetadata, NamesAreMadeFitForATerminal) {
  const std::string hostile = "a\n\x1b[2J" + std::string(200, 'z');
  expect_refused(one_value().scalar<uint8_t>(hostile, 13, 1).parse(), kCorruption, "'a\\x0a\\x1b[2Jzzz");
}

TEST(GgufMetadata, PartsOfASplitModelAreFiles) {
  GgufBytes part(0, 2);
  part.scalar<uint16_t>("split.no", 2, 1).scalar<uint16_t>("split.count", 2, 3);
  expect_refused(part.parse(), kNotSupported, "one part of a model split into 3 files; open it as a file");
  EXPECT_TRUE(GgufBytes(0, 1).scalar<uint16_t>("split.count", 2, 1).parse());
}

TEST(GgufMetadata, AlignmentIsAPowerOfTwoOfAtLeastEight) {
  for (const uint32_t bad : {0u, 1u, 4u, 33u, 48u, 0xFFFFFFFFu}) {
    expect_refused(GgufBytes(0, 1).scalar<uint32_t>("general.alignment", 4, bad).parse(), kCorruption,
                   format_text("general.alignment at byte 53 is {}", bad));
  }
  expect_refused(GgufBytes(0, 1).scalar<int64_t>("general.alignment", 11, -8).parse(), kCorruption, "is -8");
  expect_refused(GgufBytes(0, 1).scalar<uint64_t>("general.alignment", 10, 1ull << 62).parse(), kCorruption, "4611686");
  expect_refused(GgufBytes(0, 1).string("general.alignment", "32").parse(), kCorruption, "an integer is needed");
  for (const uint32_t good : {8u, 64u, 4096u, 0x80000000u}) {
    EXPECT_TRUE(GgufBytes(0, 1).scalar<uint32_t>("general.alignment", 4, good).parse()) << good;
  }
}

}  // namespace
}  // namespace tern
