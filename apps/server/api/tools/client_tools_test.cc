// Custom tools and functions in namespaces, in chats and in responses.
#include "server/api/tools/client_tools.h"

#include "server/api/api_test_support.h"

namespace tern::server::test {
namespace {

const std::string kItems = "/v1/responses";

std::string input_of(const std::string& arguments, size_t n) {
  CustomInput input;
  std::string out;
  for (size_t at = 0; at < arguments.size(); at += n) out += input.feed(arguments.substr(at, n));
  return out + input.finish();
}

TEST(CustomInput, IsTheTextInTheArguments) {
  for (const size_t n : {size_t{1}, size_t{3}, size_t{1000}}) {
    EXPECT_EQ(input_of(R"({"input": "a\n\"b\"\\\/é\u00e9\ud83d\ude00\t{}"})", n), "a\n\"b\"\\/éé😀\t{}");
    EXPECT_EQ(input_of(R"( { "input" : "" } )", n), "");
    EXPECT_EQ(input_of(R"({"other": 1, "input": "a\tb"})", n), "a\tb");
    EXPECT_EQ(input_of(R"({"input": 5})", n), R"({"input": 5})");
    EXPECT_EQ(input_of(R"({"input": "cut \)", n), "cut ");
    EXPECT_EQ(input_of(custom_arguments("x\x01\"\\y"), n), "x\x01\"\\y");
  }
}

// The model begins calls by itself, with the text "there was".
Json chat_with(const Json& tool) {
  Json body = chat("Once upon a time", 80);
  body["tools"] = Json::array({tool});
  body["parallel_tool_calls"] = false;
  return body;
}

Json lark(const std::string& definition) {
  return {{"type", "grammar"}, {"syntax", "lark"}, {"definition", definition}};
}

constexpr const char* kSteps = "start: step~2..3\nstep: (\"left\" | \"right\") \"\\n\"";

bool are_steps(std::string text) {
  if (text.empty()) return false;
  while (!text.empty()) {
    const size_t n = text.starts_with("left\n") ? 5 : text.starts_with("right\n") ? 6 : 0;
    if (n == 0) return false;
    text.erase(0, n);
  }
  return true;
}

TEST(CustomTools, CallsInChatsAreTheirInput) {
  const RunningServer server({}, storyteller());
  for (const char* choice : {"auto", "required", "custom"}) {
    SCOPED_TRACE(choice);
    const Json format = {{"type", "grammar"}, {"grammar", {{"syntax", "lark"}, {"definition", kSteps}}}};
    Json body = chat_with({{"type", "custom"}, {"custom", {{"name", "walk"}, {"format", format}}}});
    body["tool_choice"] = choice;
    if (choice == std::string("custom")) body["tool_choice"] = {{"type", "custom"}, {"custom", {{"name", "walk"}}}};
    const Json answer = server.post(kChat, body).json;
    ASSERT_TRUE(answer.contains("choices")) << answer;
    const Json& message = answer["choices"][0]["message"];
    ASSERT_TRUE(message.contains("tool_calls")) << answer;
    const Json& call = message["tool_calls"][0];
    EXPECT_EQ(call["type"], "custom");
    EXPECT_EQ(call["custom"]["name"], "walk");
    EXPECT_FALSE(call.contains("function"));
    const std::string input = call["custom"]["input"];
    EXPECT_EQ(answer["choices"][0]["finish_reason"], "tool_calls") << answer;
    EXPECT_TRUE(are_steps(input)) << answer;
    std::string streamed;
    for (const Json& event : server.stream(kChat, body)) {
      const Json delta = event["choices"].empty() ? Json::object() : event["choices"][0]["delta"];
      if (!delta.contains("tool_calls")) continue;
      EXPECT_FALSE(delta["tool_calls"][0].contains("function")) << event;
      streamed += delta["tool_calls"][0]["custom"]["input"].get<std::string>();
    }
    EXPECT_EQ(streamed, input);
  }
}

// Earlier calls may come back as they were given.
TEST(CustomTools, EarlierCallsAreThoseOfTheFunction) {
  const RunningServer server({}, storyteller());
  const auto prompt_with = [&](const Json& call) {
    Json body = chat("Once");
    body["messages"].push_back({{"role", "assistant"}, {"content", nullptr}, {"tool_calls", {call}}});
    const auto answer = server.post("/apply-template", body);
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.json.value("prompt", answer.text);
  };
  const Json custom = {{"id", "c"}, {"type", "custom"}, {"custom", {{"name", "walk"}, {"input", "left\n"}}}};
  const Json function = {
      {"id", "c"}, {"type", "function"}, {"function", {{"name", "walk"}, {"arguments", R"({"input": "left\n"})"}}}};
  EXPECT_EQ(prompt_with(custom), prompt_with(function));
  Json body = chat("Once");
  body["messages"].push_back({{"role", "assistant"}, {"tool_calls", {{{"id", "c"}, {"type", "custom"}}}}});
  EXPECT_EQ(server.post(kChat, body).json["error"]["param"], "messages[1].tool_calls[0].custom");
}

Json response_with(const Json& tool) {
  return {{"input", "Once upon a time"},  {"tools", {tool}},         {"tool_choice", "required"},
          {"parallel_tool_calls", false}, {"max_output_tokens", 60}, {"temperature", 0}};
}

// The named events of a stream.
std::vector<Json> named_events(const RunningServer& server, Json body) {
  body["stream"] = true;
  const std::string text = server.post(kItems, body).text;
  std::vector<Json> events;
  for (size_t at = text.find("data: "); at != text.npos; at = text.find("data: ", at + 1)) {
    events.push_back(Json::parse(text.substr(at + 6, text.find('\n', at) - at - 6)));
  }
  return events;
}

TEST(CustomTools, CallsInResponsesAreItemsOfTheirOwn) {
  const RunningServer server({}, storyteller());
  const Json pattern = {{"type", "grammar"}, {"syntax", "regex"}, {"definition", "go [0-9]{1,3} \"steps\""}};
  const Json body =
      response_with({{"type", "custom"}, {"name", "walk"}, {"description", "Walks."}, {"format", pattern}});
  const Json answer = server.post(kItems, body).json;
  ASSERT_TRUE(answer.contains("output")) << answer;
  const Json& item = answer["output"][0];
  EXPECT_EQ(item["type"], "custom_tool_call") << answer;
  EXPECT_TRUE(item["id"].get<std::string>().starts_with("ctc_"));
  EXPECT_EQ(item["name"], "walk");
  const std::string input = item["input"];
  EXPECT_TRUE(input.starts_with("go ") && input.ends_with(" \"steps\"")) << input;
  EXPECT_FALSE(item.contains("arguments"));
  std::string streamed, done;
  for (const Json& event : named_events(server, body)) {
    if (event["type"] == "response.custom_tool_call_input.delta") streamed += event["delta"].get<std::string>();
    if (event["type"] == "response.custom_tool_call_input.done") done = event["input"];
    EXPECT_FALSE(event["type"].get<std::string>().contains("function_call")) << event;
    if (event["type"] == "response.output_item.done") EXPECT_EQ(event["item"]["input"], input);
  }
  EXPECT_EQ(streamed, input);
  EXPECT_EQ(done, input);
  // The conversation goes on with the item as it came.
  Json next = body;
  next["input"] = Json::array({{{"role", "user"}, {"content", "Once upon a time"}},
                               item,
                               {{"type", "custom_tool_call_output"}, {"call_id", item["call_id"]}, {"output", "ok"}}});
  EXPECT_EQ(server.post(kItems, next).status, 200);
}

TEST(CustomTools, ATextMayBeFree) {
  const RunningServer server({}, storyteller());
  for (const Json& format : {Json(nullptr), Json{{"type", "text"}}}) {
    const Json answer =
        server.post(kItems, response_with({{"type", "custom"}, {"name", "say"}, {"format", format}})).json;
    ASSERT_TRUE(answer.contains("output")) << answer;
    EXPECT_EQ(answer["output"][0]["type"], "custom_tool_call") << answer;
  }
}

TEST(CustomTools, WrongOnesAreRefusedByName) {
  const RunningServer server({}, storyteller());
  const auto says = [&](const Json& tool, const std::string& param, std::string_view words) {
    const auto answer = server.post(kItems, response_with(tool));
    EXPECT_EQ(answer.status, 400) << answer.text;
    EXPECT_EQ(answer.json["error"]["param"], param) << answer.text;
    EXPECT_TRUE(answer.text.contains(words)) << answer.text;
  };
  Json tool = {{"type", "custom"}, {"name", "a"}, {"format", lark("start: \"a\nb")}};
  says(tool, "tools[0].format.definition", "the grammar: line 1, column 8: ");
  tool["format"] = lark("start: /a(?=b)/");
  says(tool, "tools[0].format.definition", "look-around");
  tool["format"]["syntax"] = "gbnf";
  says(tool, "tools[0].format.syntax", "'gbnf' is not lark or regex");
  tool["format"] = {{"type", "json"}};
  says(tool, "tools[0].format.type", "'json' is not text or grammar");
  tool.erase("name");
  tool.erase("format");
  says(tool, "tools[0].name", "is missing");
  says({{"type", "other"}}, "tools[0].type", "'other' is not supported");
}

TEST(Namespaces, FunctionsAreOfferedAndCalledWithTheirNamespace) {
  const RunningServer server({}, storyteller());
  const Json parameters = {{"type", "object"},
                           {"properties", {{"day", {{"enum", {"today"}}}}}},
                           {"required", {"day"}},
                           {"additionalProperties", false}};
  const Json create = {{"type", "function"}, {"name", "create"},      {"description", "Makes one."},
                       {"strict", false},    {"defer_loading", true}, {"parameters", parameters}};
  Json body =
      response_with({{"type", "namespace"}, {"name", "mcp__calendar"}, {"description", "Plans."}, {"tools", {create}}});
  const Json answer = server.post(kItems, body).json;
  ASSERT_TRUE(answer.contains("output")) << answer;
  const Json& item = answer["output"][0];
  EXPECT_EQ(item["type"], "function_call");
  EXPECT_EQ(item["namespace"], "mcp__calendar");
  EXPECT_EQ(item["name"], "create");
  EXPECT_EQ(Json::parse(item["arguments"].get<std::string>()), (Json{{"day", "today"}}));
  body["input"] = Json::array({{{"role", "user"}, {"content", "Once upon a time"}},
                               item,
                               {{"type", "function_call_output"}, {"call_id", item["call_id"]}, {"output", "ok"}}});
  body["tool_choice"] = {{"type", "function"}, {"namespace", "mcp__calendar"}, {"name", "create"}};
  EXPECT_EQ(server.post(kItems, body).json["output"][0]["namespace"], "mcp__calendar");
  body["tools"].push_back({{"type", "namespace"}, {"name", "mcp__calendar__"}, {"tools", {create}}});
  const auto twice = server.post(kItems, body);
  EXPECT_EQ(twice.status, 400);
  EXPECT_TRUE(twice.text.contains("tools[1].tools[0].name: 'mcp__calendar__create' is the name of two tools"))
      << twice.text;
  body["tools"][1] = {{"type", "namespace"}, {"name", "x"}, {"tools", {{{"type", "custom"}, {"name", "y"}}}}};
  EXPECT_EQ(server.post(kItems, body).json["error"]["param"], "tools[1].tools[0].type");
}

TEST(Namespaces, DescriptionsStandBeforeThoseOfTheirFunctions) {
  const Json json = {{"type", "namespace"},
                     {"name", "mail"},
                     {"description", "Letters of today."},
                     {"tools",
                      {{{"type", "function"}, {"name", "read"}, {"description", "Reads one."}},
                       {{"type", "function"}, {"name", "list"}, {"description", nullptr}},
                       {{"type", "function"}, {"name", "count"}}}}};
  Fields fields(json);
  GrammarCache grammars;
  Json functions = Json::array();
  EXPECT_TRUE(ClientTools().read(fields, json, grammars, functions));
  ASSERT_EQ(functions.size(), 3u) << functions;
  EXPECT_EQ(functions[0]["function"]["description"], "Letters of today. Reads one.");
  EXPECT_EQ(functions[1]["function"]["description"], "Letters of today.");
  EXPECT_EQ(functions[2]["function"]["description"], "Letters of today.");
}

TEST(Namespaces, AFunctionCannotHaveAnotherToolsName) {
  const RunningServer server({}, storyteller());
  const Json custom = {{"type", "custom"}, {"name", "a__b"}};
  const Json space = {{"type", "namespace"}, {"name", "a"}, {"tools", {{{"type", "function"}, {"name", "b"}}}}};
  for (const Json& other : {custom, space}) {
    Json body = response_with({{"type", "function"}, {"name", "a__b"}});
    body["tools"].push_back(other);
    const auto answer = server.post(kItems, body);
    EXPECT_EQ(answer.status, 400);
    EXPECT_TRUE(answer.text.contains("tools: 'a__b' is the name of two tools")) << answer.text;
  }
  const Json chat = {{"messages", {{{"role", "user"}, {"content", "a"}}}},
                     {"tools",
                      {{{"type", "function"}, {"function", {{"name", "a__b"}}}},
                       {{"type", "custom"}, {"custom", {{"name", "a__b"}}}}}}};
  EXPECT_EQ(server.post(kChat, chat).status, 400);
}

}  // namespace
}  // namespace tern::server::test
