// Calls whose lists and objects are elements (MarkedCalls::Values::kElements): what the grammar allows is read as a
// value that the schema allows.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/chat/call_forms_test_support.h"
#include "text/chat/chat_reply_test_support.h"
#include "text/tokenizer/vocab_test_support.h"

namespace tern {
namespace {

using namespace call_forms_test;

constexpr const char* kToken = "]<]tern[>[";

ChatFormat element_format() {
  const Form* const form =
      std::ranges::find_if(kForms, [](const Form& one) { return one.name == std::string_view("elements"); });
  return find_chat_format(ChatTemplate(template_of(form->calls), "", ""));
}

std::string tools_of(const std::string& value_schema) {
  return R"([{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object",
             "properties": {"v": )" +
         value_schema + R"(}, "required": ["v"], "additionalProperties": false}}}])";
}

// "~" stands for the token before each tag.
std::string with_tokens(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '~' ? std::string(kToken) : std::string(1, c);
  return out;
}

struct Read {
  bool is_allowed;
  nlohmann::json value;  // null: no call
};

Read read_value(const std::string& schema, std::string_view value) {
  const ChatFormat format = element_format();
  const std::string tools = tools_of(schema);
  const auto call = tool_call_grammar(format, tools, {.parallel = false});
  const auto grammar = call ? Grammar::tool_call(call->schema, "") : std::unexpected(call.error());
  EXPECT_TRUE(grammar) << grammar.error().message;
  const std::string text =
      with_tokens("~<tool_call>\n~<invoke name=\"f\">~<v>" + std::string(value) + "~</v>~</invoke>\n~</tool_call>");
  EXPECT_TRUE(text.starts_with(call->begin));
  const ReadReply read =
      read_pieces(format, {.tool_names = {"f"}, .tools = tools, .stream_arguments = false, .id_seed = 1}, {text});
  nlohmann::json arguments;
  if (read.message.tool_calls.size() == 1)
    arguments = nlohmann::json::parse(read.message.tool_calls[0].arguments, nullptr, false);
  return {grammar && (*grammar)->matches(std::string_view(text).substr(call->begin.size())),
          arguments.is_object() ? arguments["v"] : nlohmann::json()};
}

TEST(ElementCalls, ValuesAreThoseOfTheSchema) {
  struct Case {
    const char *schema, *text, *value;
  };
  const Case kCases[] = {
      {R"({"type": "array", "items": {"type": "string"}})", "", "[]"},
      {R"({"type": "array", "items": {"type": "string"}})", "~<item>5~</item>~<item>~</item>", R"(["5", ""])"},
      {R"({"type": "array", "items": {"type": "array"}})", "~<item>~</item>~<item>~<item>1~</item>~</item>",
       "[[], [1]]"},
      {R"({"type": "object"})", "", "{}"},
      {R"({"type": "object", "properties": {"a": {"type": "string"}, "item": {"type": "integer"}}})",
       "~<a>true~</a>~<item>5~</item>", R"({"a": "true", "item": 5})"},
      {R"({"type": "array", "items": {"type": "object", "properties": {"n": {"type": "string"}}}})",
       "~<item>~<n>5~</n>~</item>~<item>~</item>", R"([{"n": "5"}, {}])"},
      {R"({"type": "array", "prefixItems": [{"enum": ["x"]}, {"type": "boolean"}], "items": false, "minItems": 2})",
       "~<item>x~</item>~<item>true~</item>", R"(["x", true])"},
      {R"({"type": ["null", "integer"]})", "null", "null"},
      {R"({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]})", "~<item>7~</item>",
       R"(["7"])"},
      {R"({"type": ["array", "object"]})", "~<item>1~</item>", "[1]"},
      {R"({"type": ["array", "object"]})", "~<a>1~</a>~<b>x y~</b>", R"({"a": 1, "b": "x y"})"},
      {"{}", "", R"("")"},
      {"{}", "1.5", "1.5"},
      {"{}", "[1]", R"("[1]")"},
      {"{}", "~<item>a~</item>", R"(["a"])"},
      {"{}", "~<a>~<b>false~</b>~</a>", R"({"a": {"b": false}})"},
      {R"({"type": "object", "additionalProperties": {"type": "string"}})", "~<a>1~</a>", R"({"a": "1"})"},
  };
  for (const auto& [schema, text, value] : kCases) {
    const Read read = read_value(schema, text);
    EXPECT_TRUE(read.is_allowed) << schema << " " << text;
    EXPECT_EQ(read.value, nlohmann::json::parse(value)) << schema << " " << text;
  }
}

// What could be read as another value than the one that the grammar had in mind is not allowed.
TEST(ElementCalls, WhatIsNotToldApartIsNotAllowed) {
  const std::pair<const char*, const char*> kCases[] = {
      {R"({"type": ["array", "object"]})", ""},
      {R"({"type": ["array", "string"], "minItems": 1, "minLength": 1})", ""},
      {R"({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "object", "required": ["item"],
           "properties": {"item": {"type": "string"}}}]})",
       "~<item>a~</item>"},
      {R"({"type": "string"})", "a ~<b>"},
      {R"({"enum": ["a ]<]tern[>[<b", "c"]})", "a ~<b"},
      {R"({"type": "array", "minItems": 2, "maxItems": 3, "items": {"type": "integer"}})", "~<item>1~</item>"},
      {R"({"type": "array", "maxItems": 1, "items": {"type": "integer"}})", "~<item>1~</item>~<item>1~</item>"},
      {R"({"type": "array", "items": {"type": "integer"}})", "~<item>x~</item>"},
      {R"({"type": "array", "items": {"type": "integer"}})", "~<other>1~</other>"},
      {R"({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false})", "~<a>1~</b>"},
      {R"({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}})", ""},
  };
  for (const auto& [schema, text] : kCases) EXPECT_FALSE(read_value(schema, text).is_allowed) << schema << " " << text;
  const auto refused = [](const std::string& schema) {
    const auto call = tool_call_grammar(element_format(), tools_of(schema), {}).value();
    const auto grammar = Grammar::tool_call(call.schema, "");
    return grammar ? std::string() : grammar.error().message;
  };
  EXPECT_TRUE(refused(R"({"type": "array", "uniqueItems": true, "items": {"enum": [1, 2]}})").contains("depend"));
  EXPECT_TRUE(refused(R"({"type": "array", "minItems": 201})").contains("/minItems'"));
  EXPECT_TRUE(refused(R"({"type": "object", "maxProperties": 1})").contains("/maxProperties'"));
}

// The token before each tag is one of the vocabulary's control tokens, whose text a reply leaves out by itself.
TEST(ElementCalls, TheirTokenIsShown) {
  TestVocab vocab;
  const TokenId token = vocab.add(kToken, TokenType::kControl);
  ChatFormat format = element_format();
  add_tokens(format, *vocab.make());
  EXPECT_EQ(format.shown_tokens, std::vector<TokenId>{token});
}

// Lists and objects end where their elements do, and not deeper than a reader follows.
TEST(ElementCalls, DepthIsLimited) {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "~<item>";
    text += "1";
    for (int i = 0; i < depth; ++i) text += "~</item>";
    return text;
  };
  EXPECT_TRUE(read_value("{}", nested(60)).value.is_array());
  EXPECT_TRUE(read_value("{}", nested(70)).value.is_null());
}

}  // namespace
}  // namespace tern
