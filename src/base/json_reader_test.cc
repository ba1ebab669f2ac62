#include "base/json_reader.h"

#include <gtest/gtest.h>

namespace tern {
namespace {

std::string message_of(std::string_view text, const JsonLimits& limits = {}) {
  const auto json = parse_json(text, "t.json", limits);
  return json ? "accepted" : json.error().message;
}

TEST(JsonReader, BoundsSizeAndDepth) {
  EXPECT_EQ(message_of(R"({"a": [1, 2.5, "x"]})"), "accepted");
  EXPECT_EQ(message_of("[1, 2]", {.max_bytes = 5}), "t.json: 6 bytes of JSON, more than the 5 that Tern reads");
  EXPECT_EQ(message_of(std::string(64, '[') + std::string(64, ']')), "accepted");
  EXPECT_EQ(message_of(std::string(65, '[') + std::string(65, ']')), "t.json: JSON nested more than 64 deep");
  EXPECT_EQ(message_of(std::string(1 << 20, '{')), "t.json: JSON nested more than 64 deep");
  EXPECT_EQ(message_of("{"), "t.json: not valid JSON, at byte 2");
}

TEST(JsonReader, SeesANameThatIsThereTwice) {
  const std::string_view twice = R"({"a": {"x": 1}, "b": {"x": 2}, "a": 3})";
  EXPECT_EQ(message_of(twice), "accepted");  // the JSON library decides which one counts
  EXPECT_EQ(message_of(twice, {.unique_names = true}),
            "t.json: JSON with 'a' twice in one object, and it is unclear which one counts");
  EXPECT_EQ(message_of(R"([{"x": 1}, {"x": 2, "y": {"x": 3}}])", {.unique_names = true}), "accepted");
  EXPECT_EQ(message_of(R"({"\u001b\n": 1, "\u001b\n": 2})", {.unique_names = true}),
            R"(t.json: JSON with '\x1b\x0a' twice in one object, and it is unclear which one counts)");
}

TEST(JsonReader, FetchesMembersByType) {
  const Json json = parse_json(R"({"s": "text", "n": 3, "t": true, "z": null})", "t.json").value();
  EXPECT_EQ(string_or(json, "s", "else", "t.json").value(), "text");
  EXPECT_EQ(string_or(json, "z", "else", "t.json").value(), "else");
  EXPECT_EQ(bool_or(json, "t", false, "t.json").value(), true);
  EXPECT_EQ(string_or(json, "n", "else", "t.json").error().message, "t.json: \"n\" is of type number, not string");
}

}  // namespace
}  // namespace tern
