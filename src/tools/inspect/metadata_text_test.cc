#include "tools/inspect/metadata_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tern {
namespace {

GgufValue text_value(std::string_view text) {
  return {.kind = GgufKind::kString, .is_array = false, .count = 1, .data = as_bytes(text)};
}

template <class T>
GgufValue array_value(GgufKind kind, const std::vector<T>& items) {
  return {.kind = kind, .is_array = true, .count = items.size(), .data = std::as_bytes(std::span(items))};
}

TEST(EscapedText, KeepsOneLine) {
  EXPECT_EQ(escaped_text("a\nb\tc\rd\\e", 100), "a\\nb\\tc\\rd\\\\e");
  EXPECT_EQ(escaped_text(std::string_view("\x1b[2J\0\x7f", 6), 100), "\\x1b[2J\\x00\\x7f");
  EXPECT_EQ(escaped_text("héé", 100), "héé");
  EXPECT_EQ(escaped_text("a\u009bb\u202ec", 100), "a\\u009bb\\u202ec");
}

TEST(EscapedText, CutsBetweenCharacters) {
  EXPECT_EQ(escaped_text("abcdef", 6), "abcdef");
  EXPECT_EQ(escaped_text("abcdef", 4), "abcd… (6 bytes)");
  EXPECT_EQ(escaped_text("aéb", 2), "a… (4 bytes)");  // é is two bytes
  EXPECT_EQ(escaped_text("ab😀c", 4), "ab… (7 bytes)");
  EXPECT_EQ(escaped_text(std::string(10, '\x80'), 5), "\\x80\\x80… (10 bytes)");  // invalid UTF-8: terminates
}

TEST(MetadataText, Scalars) {
  const uint8_t yes = 1;
  const float eps = 1e-5f;
  const int64_t minus = -7;
  const auto scalar = [](GgufKind kind, const auto& value) {
    return metadata_text({.kind = kind, .is_array = false, .count = 1, .data = std::as_bytes(std::span(&value, 1))});
  };
  EXPECT_EQ(scalar(GgufKind::kBool, yes), "true");
  EXPECT_EQ(scalar(GgufKind::kF32, eps), "1e-05");
  EXPECT_EQ(scalar(GgufKind::kI64, minus), "-7");
  EXPECT_EQ(scalar(GgufKind::kU8, yes), "1");
  EXPECT_EQ(metadata_text(text_value("two\nlines")), "two\\nlines");
}

TEST(MetadataText, ArraysAreShortened) {
  EXPECT_EQ(metadata_text(array_value<int32_t>(GgufKind::kI32, {1, -2, 3})), "[1, -2, 3]");
  EXPECT_EQ(metadata_text(array_value<int32_t>(GgufKind::kI32, {})), "[]");
  EXPECT_EQ(metadata_text(array_value<uint32_t>(GgufKind::kU32, std::vector<uint32_t>(128256, 5))),
            "[5, 5, 5, 5, 5, 5, 5, 5, … 128256 in all]");
}

TEST(MetadataText, ArraysOfStrings) {
  const std::string bytes = std::string("\x02\0\0\0\0\0\0\0hi\x02\0\0\0\0\0\0\0\n\"", 20);
  EXPECT_EQ(metadata_text({.kind = GgufKind::kString, .is_array = true, .count = 2, .data = as_bytes(bytes)}),
            R"(["hi", "\n\""])");
}

}  // namespace
}  // namespace tern
