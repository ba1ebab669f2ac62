#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tern/chat_reply.h"
#include "text/chat/chat_reply_test_support.h"

namespace tern {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kTools = R"( [
  {"type": "function", "function": {"name": "tree", "description": "$ref", "parameters":
    {"type": "object", "properties": {"z": {"$ref": "#/$defs/node"}, "a": {"$ref":"#"}, "$ref": {"#odd": "#x"}},
     "$defs": {"node": {"type": "object", "properties": {"next": {"$ref" : "#/$defs/node"}}}}}}},
  {"type": "function", "function": {"name": "now"}},
  {"type": "function", "function": {"name": "none \"q\"", "parameters": null}} ] )";

std::string error_of(const auto& result) { return result ? "" : result.error().message; }

TEST(ToolGrammar, DescribesACall) {
  const auto grammar = tool_call_grammar(tagged_format(), kTools, {.name = "now"}).value();
  EXPECT_EQ(grammar.begin, "<tool_call>\n");
  EXPECT_EQ(grammar.end, "\n</tool_call>");
  EXPECT_EQ(grammar.trigger, "<tool_call>");
  EXPECT_FALSE(grammar.triggers_only_at_start);
  EXPECT_EQ(Json::parse(grammar.schema), Json::parse(R"({"anyOf": [{"type": "object",
    "properties": {"name": {"const": "now"}, "arguments": {"$ref": "#/$defs/1", "type": "object"}},
    "required": ["name", "arguments"], "additionalProperties": false}],
    "$defs": {"1": {"type": "object", "properties": {}}}})"));
}

// A schema's internal references are changed to its new place, and its properties keep their order.
TEST(ToolGrammar, MovesReferences) {
  const auto schema = Json::parse(tool_call_grammar(tagged_format(), kTools).value().schema);
  EXPECT_EQ(schema.at("anyOf").size(), 3u);
  EXPECT_EQ(schema.at("/anyOf/2/properties/name/const"_json_pointer), "none \"q\"");
  const Json& tree = schema.at("$defs").at("0");
  EXPECT_EQ(tree.dump(), Json::parse(R"({"type": "object", "properties": {"z": {"$ref": "#/$defs/0/$defs/node"},
    "a": {"$ref": "#/$defs/0"}, "$ref": {"#odd": "#x"}}, "$defs": {"node": {"type": "object", "properties": {
    "next": {"$ref": "#/$defs/0/$defs/node"}}}}})")
                             .dump());
  for (const char* reference : {"/properties/z/$ref", "/properties/a/$ref"}) {
    const std::string to = tree.at(Json::json_pointer(reference));
    EXPECT_NO_THROW(schema.at(Json::json_pointer(to.substr(1)))) << to;
  }
}

TEST(ToolGrammar, OfOtherForms) {
  const auto bare = tool_call_grammar(bare_format(), kTools, {.name = "now"}).value();
  EXPECT_EQ(bare.begin + bare.end, "");
  EXPECT_TRUE(bare.triggers_only_at_start);
  EXPECT_EQ(bare.trigger, "{\"name\":");
  EXPECT_TRUE(Json::parse(bare.schema).at("anyOf").at(0).at("properties").contains("parameters"));
  const auto one = tool_call_grammar(listed_format(), kTools).value();
  EXPECT_EQ(one.trigger, "[TOOL_CALLS]");
  EXPECT_EQ(Json::parse(one.schema).at("type"), "array");
  EXPECT_EQ(Json::parse(one.schema).at("minItems"), 1);
  EXPECT_EQ(Json::parse(one.schema).at("maxItems"), 1);
  EXPECT_FALSE(
      Json::parse(tool_call_grammar(listed_format(), kTools, {.parallel = true}).value().schema).contains("maxItems"));
}

// Calls that must come may be several: each then ends with its mark.
TEST(ToolGrammar, ForcedCallsBetweenTagsMayBeSeveral) {
  const auto call = tool_call_grammar(tagged_format(), kTools, {.parallel = true}).value();
  EXPECT_EQ(call.begin, "<tool_call>\n");
  EXPECT_EQ(call.end, "");
  const auto grammar = Grammar::tool_call(call.schema, "").value();
  const std::string now = R"({"name": "now", "arguments": {}})", tree = R"({"name": "tree", "arguments": {}})";
  const std::string end = "\n</tool_call>", next = "\n<tool_call>\n";
  EXPECT_TRUE(grammar->matches(now + end));
  EXPECT_TRUE(grammar->matches(now + end + next + tree + end + next + now + end));
  EXPECT_FALSE(grammar->matches(now));
  EXPECT_FALSE(grammar->matches(now + end + next));
  EXPECT_FALSE(grammar->matches(now + end + "\nText"));
  EXPECT_EQ(tool_call_grammar(tagged_format(), kTools, {.name = "now", .parallel = true}).value().end, end);
  ChatReplyParser parser(tagged_format(), {.tool_names = {"now", "tree"}, .stream_arguments = true});
  ChatMessage message;
  for (const std::string& text : {call.begin, now + end + next + tree + end, call.end})
    append(message, parser.feed(text));
  append(message, parser.finish());
  ASSERT_EQ(message.tool_calls.size(), 2u);
  EXPECT_EQ(message.tool_calls[1].name, "tree");
  EXPECT_EQ(message.content, "");
}

// Whatever a tool's parameters leave open, its arguments are an object.
TEST(ToolGrammar, ArgumentsAreAnObject) {
  for (const std::string parameters :
       {R"("parameters": {})", R"("parameters": null)", R"("description": "none")",
        R"("parameters": {"type": ["object", "null"], "properties": {}})", R"("parameters": {"description": "d"})"}) {
    const std::string tools = R"([{"type": "function", "function": {"name": "f", )" + parameters + "}}]";
    const auto call = tool_call_grammar(tagged_format(), tools).value();
    const auto grammar = Grammar::tool_call(call.schema, "");
    ASSERT_TRUE(grammar) << parameters << grammar.error().message;
    EXPECT_TRUE((*grammar)->matches(R"({"name": "f", "arguments": {}})")) << parameters;
    for (const std::string wrong : {"null", "[]", "1", "\"x\""})
      EXPECT_FALSE((*grammar)->matches(R"({"name": "f", "arguments": )" + wrong + "}")) << parameters;
  }
}

// With a format of the reply, the reply has that form or is a call.
TEST(ToolGrammar, TogetherWithAFormat) {
  constexpr const char* kSchema =
      R"({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]})";
  constexpr const char* kNow = R"([{"type": "function", "function": {"name": "now"}}])";
  const std::pair<ChatFormat, std::string> forms[] = {
      {tagged_format(), "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>"},
      {bare_format(), R"({"name": "now", "parameters": {}})"},
      {listed_format(), R"([TOOL_CALLS] [{"name": "now", "arguments": {}}])"}};
  for (const auto& [format, call] : forms) {
    GenerateOptions generate = {.grammar = Grammar::json_schema(kSchema).value()};
    const auto turn = chat_turn(format, {}, {.tools = kNow}, generate);
    ASSERT_TRUE(turn) << turn.error().message;
    EXPECT_TRUE(generate.grammar->matches(R"({"ok": true})"));
    EXPECT_TRUE(generate.grammar->matches(call)) << call;
    EXPECT_FALSE(generate.grammar->matches("{}"));
    EXPECT_FALSE(generate.grammar->matches(call + "x"));
    EXPECT_EQ(parse(turn->format, R"({"ok": true})", turn->reply), R"(|{"ok": true}|)");
    EXPECT_EQ(parse(turn->format, call, turn->reply), "||now{}");
    GenerateOptions forced = {.grammar = Grammar::json_schema(kSchema).value()};
    ASSERT_TRUE(chat_turn(format, {}, {.tools = kNow, .choice = ToolUse::Choice::kRequired}, forced));
    EXPECT_FALSE(forced.grammar->matches(R"({"ok": true})"));
  }
}

// The parser reads what the grammar describes.
TEST(ToolGrammar, AgreesWithTheParser) {
  for (const ChatFormat& format : {tagged_format(), bare_format(), listed_format(), listed_and_closed_format()}) {
    const auto grammar = tool_call_grammar(format, kTools, {.name = "now"}).value();
    const Json schema = Json::parse(grammar.schema);
    const Json& call = schema.contains("items") ? schema["items"]["anyOf"][0] : schema["anyOf"][0];
    Json object;
    for (const auto& [name, value] : call.at("properties").items()) {
      object[name] = value.contains("const") ? value["const"] : Json::object();
    }
    const std::string json = schema.contains("items") ? "[" + object.dump() + "]" : object.dump();
    EXPECT_EQ(parse(format, grammar.begin + json + grammar.end, {.tool_names = {"now"}}), "||now{}");
  }
}

TEST(ToolGrammar, ListsNames) {
  EXPECT_EQ(tool_names(kTools).value(), (std::vector<std::string>{"tree", "now", "none \"q\""}));
  EXPECT_TRUE(tool_names("").value().empty());
  EXPECT_TRUE(tool_names("[]").value().empty());
}

// Each reference to itself would be followed again, 10^20 times.
TEST(ToolGrammar, SchemasThatReferToThemselvesTakeNoTime) {
  std::string references = R"({"$ref": "#"})";
  for (int i = 0; i < 9; ++i) references += R"(, {"$ref": "#"})";
  const auto names = tool_names(R"([{"type": "function", "function": {"name": "f", "description": "d", "parameters":
      {"anyOf": [)" + references +
                                "]}}}]");
  EXPECT_TRUE(names) << names.error().message;
}

TEST(ToolGrammar, RefusesWhatIsNoListOfTools) {
  const std::pair<std::string, std::string> wrong[] = {
      {"{}", "tools: no list, or one of more than 10000"},
      {"[", "tools: not valid JSON, at byte 2"},
      {"[1]", "tools: number 1 is no object"},
      {R"([{"type": "x"}])", "tools: number 1 has not the \"type\" \"function\", the only one that there is"},
      {R"([{"type": "function", "function": 1}])", "tools: number 1 has no \"function\" that is an object"},
      {R"([{"type": "function", "function": {}}])", "tools: number 1 has no \"name\" in its function that is a text"},
      {R"([{"type": "function", "function": {"name": "f", "parameters": 1}}])",
       "tools: number 1 has \"parameters\" that are no object"},
      {R"([{"type": "function", "function": {"name": "f", "parameters": {"type": ["string", "null"]}}}])",
       "tools: number 1 has \"parameters\" that allow no object, and arguments are always one"},
      {R"([{"type": "function", "function": {"name": "f", "parameters": {"enum": [1]}}}])",
       "tools: number 1 has \"parameters\" that allow no object, and arguments are always one"},
  };
  for (const auto& [tools, message] : wrong) {
    EXPECT_EQ(error_of(tool_names(tools)), message);
    EXPECT_EQ(error_of(tool_call_grammar(tagged_format(), tools)), message);
  }
  EXPECT_EQ(error_of(tool_call_grammar(tagged_format(), "[]")), "tools: there is none to call");
  EXPECT_EQ(error_of(tool_call_grammar(tagged_format(), kTools, {.name = "x"})), "tools: there is none named 'x'");
  EXPECT_TRUE(error_of(tool_call_grammar({}, kTools)).contains("no tool calls in a form that Tern can read"));
  EXPECT_TRUE(error_of(tool_names("[" + std::string(10'000, '['))).contains("nested"));
}

}  // namespace
}  // namespace tern
