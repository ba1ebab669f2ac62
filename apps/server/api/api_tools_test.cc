// Tool calls that the model makes on its own.
#include "server/api/api_test_support.h"

namespace tern::server::test {
namespace {

Json asked_with(const char* parameters, bool is_strict, int max_tokens = 60) {
  Json body = chat("Once upon a time", max_tokens);
  body["tools"] = Json::array(
      {{{"type", "function"},
        {"function", {{"name", "weather"}, {"strict", is_strict}, {"parameters", Json::parse(parameters)}}}}});
  return body;
}

constexpr const char* kCity =
    R"({"type": "object", "properties": {"city": {"enum": ["Rome", "Oslo"]}}, "required": ["city"],
        "additionalProperties": false})";

TEST(ApiServer, ACallThatTheModelBeginsIsHeld) {
  const RunningServer server({}, storyteller());
  for (const bool is_strict : {false, true}) {
    Json body = asked_with(kCity, is_strict);
    body["parallel_tool_calls"] = false;
    const Json answer = server.post(kChat, body).json;
    ASSERT_TRUE(answer.contains("choices")) << answer;
    const Json& choice = answer["choices"][0];
    EXPECT_EQ(choice["finish_reason"], "tool_calls") << answer;
    ASSERT_EQ(choice["message"]["tool_calls"].size(), 1u) << answer;
    const Json& function = choice["message"]["tool_calls"][0]["function"];
    EXPECT_EQ(function["name"], "weather");
    const Json arguments = Json::parse(function["arguments"].get<std::string>());
    EXPECT_TRUE(arguments["city"] == "Rome" || arguments["city"] == "Oslo");
  }
}

TEST(ApiServer, SomeOfTheToolsMayBeCalled) {
  const RunningServer server({}, storyteller());
  Json body = asked_with(kCity, false);
  body["tools"].push_back(
      {{"type", "function"}, {"function", {{"name", "clock"}, {"parameters", Json::parse(kCity)}}}});
  const Json clock = {{"type", "function"}, {"function", {{"name", "clock"}}}};
  for (const char* mode : {"auto", "required"}) {
    for (const bool is_flat : {false, true}) {
      const Json allowed = {{"mode", mode}, {"tools", {clock}}};
      body["tool_choice"] = is_flat ? allowed : Json{{"allowed_tools", allowed}};
      body["tool_choice"]["type"] = "allowed_tools";
      const Json answer = server.post(kChat, body).json;
      ASSERT_TRUE(answer.contains("choices")) << answer;
      const Json& message = answer["choices"][0]["message"];
      ASSERT_TRUE(message.contains("tool_calls")) << answer;
      for (const Json& call : message["tool_calls"]) EXPECT_EQ(call["function"]["name"], "clock") << answer;
    }
  }
  body["tool_choice"]["tools"][0]["function"]["name"] = "other";
  const auto refused = server.post(kChat, body);
  EXPECT_EQ(refused.status, 400);
  EXPECT_TRUE(refused.text.contains("tool_choice.tools: names 'other', which is none of the tools")) << refused.text;
}

TEST(ApiServer, ACallThatIsCutOffIsNone) {
  const RunningServer server({}, storyteller());
  const Json answer = server.post(kChat, asked_with(kCity, true, 6)).json;
  const Json& choice = answer["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "length") << answer;
  EXPECT_FALSE(choice["message"].contains("tool_calls")) << answer;
  EXPECT_TRUE(choice["message"]["content"].get<std::string>().contains("there was")) << answer;
}

TEST(ApiServer, TextBesideToolsIsFree) {
  const RunningServer server({}, storyteller());
  Json body = asked_with(kCity, true, 16);
  body["messages"][0]["content"] = "The cat sat";
  const Json with = server.post(kChat, body).json["choices"][0];
  body.erase("tools");
  EXPECT_EQ(with["message"]["content"], server.post(kChat, body).json["choices"][0]["message"]["content"]) << with;
  EXPECT_FALSE(with["message"]["content"].get<std::string>().empty());
  EXPECT_EQ(with["finish_reason"], "length");
}

TEST(ApiServer, WhatAReplyCannotBeHeldToIsRefusedWhereAToolIsStrict) {
  const RunningServer server({}, storyteller());
  const char* schema = R"({"type": "object", "properties": {"city": {"type": "array", "uniqueItems": true}}})";
  const auto refused = server.post(kChat, asked_with(schema, true));
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.json["error"]["param"], "tools");
  EXPECT_EQ(
      refused.json["error"]["message"],
      "tools: number 1, 'weather', is strict, but the JSON schema: at '/properties/city/uniqueItems': a reply can "
      "be held to different items only if their values are few (enum, const, boolean)");
  Json body = asked_with(schema, false);
  body["parallel_tool_calls"] = false;
  const Json choice = server.post(kChat, body).json["choices"][0];
  if (choice["finish_reason"] == "tool_calls") {  // the arguments may be any object
    const std::string arguments = choice["message"]["tool_calls"][0]["function"]["arguments"];
    EXPECT_TRUE(Json::parse(arguments).is_object());
  } else {
    EXPECT_EQ(choice["finish_reason"], "length") << choice;
  }
  body["tools"][0]["function"]["strict"] = "yes";
  const Json error = server.post(kChat, body).json["error"];
  EXPECT_EQ(error["message"], "tools: number 1 has \"strict\" that is neither true nor false");
}

TEST(ApiServer, AFormatBesideToolsIsKeptOrAToolIsCalled) {
  const RunningServer server({}, storyteller());
  Json body = asked_with(kCity, true, 100);
  body["response_format"] = Json::parse(R"({"type": "json_schema", "json_schema": {"name": "a", "schema": {
      "type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": false}}})");
  const auto answer = server.post(kChat, body);
  ASSERT_EQ(answer.status, 200) << answer.json;
  const Json choice = answer.json["choices"][0];
  if (choice["finish_reason"] == "tool_calls") return;
  EXPECT_TRUE(Json::parse(choice["message"]["content"].get<std::string>()).at("ok").is_boolean()) << choice;
}

// The field `any_order`: so many properties would be too many sets of them.
TEST(ApiServer, PropertiesMayComeInAnyOrder) {
  const RunningServer server({}, storyteller());
  const auto schema_of = [](int n) {
    Json schema = {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
    for (int i = 0; i < n; ++i)
      schema["properties"][std::string(1, static_cast<char>('a' + i))] = {{"type", "integer"}};
    return schema;
  };
  Json body = asked_with(schema_of(13).dump().c_str(), true);
  EXPECT_EQ(server.post(kChat, body).status, 200);
  body["any_order"] = true;
  const auto refused = server.post(kChat, body);
  EXPECT_EQ(refused.status, 400);
  EXPECT_TRUE(refused.text.contains("more than 12 in any order")) << refused.text;
  body = asked_with(schema_of(2).dump().c_str(), true);
  body["any_order"] = true;
  EXPECT_EQ(server.post(kChat, body).status, 200);
  for (const bool any_order : {false, true}) {
    Json held = chat("Once", 40);
    held["any_order"] = any_order;
    held["response_format"] = {{"type", "json_schema"}, {"json_schema", {{"schema", schema_of(13)}}}};
    const auto answer = server.post(kChat, held);
    EXPECT_EQ(answer.status, any_order ? 400 : 200) << answer.text;
    held["response_format"]["json_schema"]["schema"] = schema_of(12);
    EXPECT_EQ(server.post(kChat, held).status, 200);
  }
}

}  // namespace
}  // namespace tern::server::test
