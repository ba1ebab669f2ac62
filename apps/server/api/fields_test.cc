#include "server/api/fields.h"

#include <gtest/gtest.h>

namespace tern::server {
namespace {

// The error's message; "" if there is none.
std::string error_of(const Fields& fields) {
  const auto checked = fields.check();
  return checked ? "" : checked.error().message;
}

TEST(Fields, ReadsWhatIsThereAndLeavesTheRest) {
  const Json json = Json::parse(R"({"a": true, "b": 5.0, "c": 0.5, "d": "text", "e": null, "f": -3})");
  Fields fields(json);
  bool a = false;
  int b = 1, e = 7, missing = 8;
  std::optional<float> c, none;
  std::string d;
  int64_t f = 0;
  fields.read("a", a);
  fields.read("b", b, {0, 10});
  fields.read("c", c, Fields::Range{0, 1});
  fields.read("d", d);
  fields.read("e", e, {0, 1});
  fields.read("f", f, {-5, 5});
  fields.read("missing", missing, {0, 1});
  fields.read("missing", none, Fields::Range{0, 1});
  EXPECT_EQ(error_of(fields), "");
  EXPECT_TRUE(a);
  EXPECT_EQ(b, 5);
  EXPECT_EQ(c, 0.5f);
  EXPECT_EQ(d, "text");
  EXPECT_EQ(e, 7);
  EXPECT_EQ(f, -3);
  EXPECT_EQ(missing, 8);
  EXPECT_FALSE(none);
}

TEST(Fields, ErrorsNameTheFieldAndWhatItIs) {
  const Json json = Json::parse(
      R"({"flag": 1, "whole": 1.5, "high": 1e300, "low": -1, "number": "7", "text": [], "texts": ["a", 2], "in": {"x": {}}})");
  const auto error = [&](const std::function<void(Fields&)>& read) {
    Fields fields(json);
    read(fields);
    const auto checked = fields.check();
    return checked ? "" : checked.error().param + " | " + checked.error().message;
  };
  bool flag = false;
  int whole = 0;
  float number = 0;
  std::string text;
  std::vector<std::string> texts;
  EXPECT_EQ(error([&](Fields& f) { f.read("flag", flag); }),
            "flag | flag: must be true or false, and is a whole number");
  EXPECT_EQ(error([&](Fields& f) { f.read("whole", whole, {0, 9}); }),
            "whole | whole: must be a whole number, and is a number");
  EXPECT_EQ(error([&](Fields& f) { f.read("high", whole, {0, 9}); }).substr(0, 35),
            "high | high: must be from 0 to 9, a");
  EXPECT_EQ(error([&](Fields& f) { f.read("low", number, {0, 9}); }), "low | low: must be from 0 to 9, and is -1");
  EXPECT_EQ(error([&](Fields& f) { f.read("number", number, {0, 9}); }),
            "number | number: must be a number, and is a string");
  EXPECT_EQ(error([&](Fields& f) { f.read("text", text); }), "text | text: must be a string, and is a list");
  EXPECT_EQ(error([&](Fields& f) { f.read_texts("texts", texts, 4); }),
            "texts[1] | texts[1]: must be a string, and is a whole number");
  EXPECT_EQ(error([&](Fields& f) { f.read_texts("texts", texts, 1); }),
            "texts | texts: has 2 strings; at most 1 are possible");
  EXPECT_EQ(error([&](Fields& f) { f.within("in", [&](Fields& inner) { inner.read("x", text); }); }),
            "in.x | in.x: must be a string, and is an object");
  EXPECT_EQ(error([&](Fields& f) { f.within("flag", [](Fields&) {}); }),
            "flag | flag: must be an object, and is a whole number");
}

TEST(Fields, TheFirstErrorCounts) {
  const Json json = Json::parse(R"({"a": 1, "b": 2})");
  Fields fields(json);
  bool value = false;
  fields.read("b", value);
  fields.read("a", value);
  EXPECT_EQ(error_of(fields), "b: must be true or false, and is a whole number");
  EXPECT_EQ(fields.find("a"), nullptr);
}

TEST(ParseBody, WhatIsNoObject) {
  const auto message = [](std::string_view body) {
    const auto json = parse_body(body);
    return json ? "" : json.error().message;
  };
  EXPECT_EQ(message("{}"), "");
  EXPECT_EQ(message("[1]"), "the body must be a JSON object");
  EXPECT_TRUE(message("").starts_with("the body is not JSON: parse error at line 1")) << message("");
  EXPECT_TRUE(message("{\"a\": \"\xff\"}").starts_with("the body is not JSON: ")) << message("{\"a\": \"\xff\"}");
  EXPECT_EQ(message(std::string(10'000, '[')), "the body is nested more than 256 levels deep");
  EXPECT_EQ(message("{\"a\": \"" + std::string(10'000, '[') + "\"}"), "");
  EXPECT_EQ(message("{\"a\": \"\\\"" + std::string(10'000, '{') + "\"}"), "");
}

}  // namespace
}  // namespace tern::server
