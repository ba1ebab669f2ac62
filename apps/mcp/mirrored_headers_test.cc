#include "mcp/mirrored_headers.h"

#include <gtest/gtest.h>

namespace tern::mcp {
namespace {

TEST(McpHeaders, ValuesAreEncodedWhereTheyMustBe) {
  EXPECT_EQ(header_value("us-west1"), "us-west1");
  EXPECT_EQ(header_value("Hello, 世界"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
  EXPECT_EQ(header_value(" padded "), "=?base64?IHBhZGRlZCA=?=");
  EXPECT_EQ(header_value("line1\nline2"), "=?base64?bGluZTEKbGluZTI=?=");
  EXPECT_EQ(header_value("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
}

TEST(McpHeaders, MarkedArgumentsAreRepeated) {
  const auto parameters = mirrored_parameters(Json::parse(R"({"properties": {
      "region": {"type": "string", "x-mcp-header": "Region"}, "query": {"type": "string"},
      "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"},
                                                "b": {"type": "boolean", "x-mcp-header": "B"}}}}})"));
  ASSERT_TRUE(parameters) << parameters.error().message;
  EXPECT_EQ(mirrored_headers(*parameters, Json::parse(R"({"region": "a", "query": "q", "deep": {"n": -7}})")),
            (NamedValues{{"Mcp-Param-N", "-7"}, {"Mcp-Param-Region", "a"}}));
  EXPECT_EQ(mirrored_headers(*parameters, Json::parse(R"({"region": null, "deep": 5})")), NamedValues());
}

TEST(McpHeaders, OtherMarksAreRefused) {
  for (
      const char* schema :
      {R"({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}})",
       R"({"properties": {"a": {"type": "string", "x-mcp-header": ""}}})",
       R"({"properties": {"a": {"type": "string", "x-mcp-header": "A b"}}})",
       R"({"properties": {"a": {"type": "string", "x-mcp-header": 5}}})",
       R"({"properties": {"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}})",
       R"({"properties": {"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}})",
       R"({"anyOf": [{"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}]})"}) {
    EXPECT_FALSE(mirrored_parameters(Json::parse(schema))) << schema;
  }
}

}  // namespace
}  // namespace tern::mcp
