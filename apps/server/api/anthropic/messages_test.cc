// Anthropic's API: conversations, tools, streams, errors.
#include "server/api/anthropic/message_answers.h"
#include "server/api/api_test_support.h"
#include "support/checkout.h"

namespace tern::server::test::anthropic {
namespace {

const std::string kMessages = "/v1/messages";

Engine load_with(const char* chat_template) {
  return Engine::load({.model_path = source_path("models/tern-stories.gguf"),
                       .backend = BackendKind::kCpu,
                       .chat_template = chat_template})
      .value();
}

const Engine& with_tools() {
  static const Engine engine = load_with(kToolTemplate);
  return engine;
}

Json ask(const std::string& text, int max_tokens = 16) {
  return {{"model", "stories"},
          {"max_tokens", max_tokens},
          {"temperature", 0},
          {"messages", {{{"role", "user"}, {"content", text}}}}};
}

// What Claude Code sends, shortened.
Json code_request() {
  return Json::parse(R"({"model": "stories", "max_tokens": 32, "temperature": 1, "stream": true,
    "system": [{"type": "text", "text": "x-anthropic-billing-header: cc_version=2; cch=1f;"},
               {"type": "text", "text": "You are a helper.", "cache_control": {"type": "ephemeral"}},
               {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
    "messages": [
      {"role": "user", "content": [{"type": "text", "text": "<system-reminder>Today.</system-reminder>"},
                                   {"type": "text", "text": "What is here?"}]},
      {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "I look.", "signature": "abc"}, {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"path": "a.txt"}}]},
      {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true,
         "content": [{"type": "text", "text": "no file"}], "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "Go on."}]}],
    "tools": [{"name": "Bash", "description": "Runs a command.", "input_schema":
                {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
                 "properties": {"command": {"type": "string"}, "timeout": {"type": "number"}}, "required": ["command"],
                 "additionalProperties": false}},
              {"name": "Read", "description": "Reads a file.", "cache_control": {"type": "ephemeral"}, "input_schema":
                {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}],
    "tool_choice": {"type": "auto"}, "metadata": {"user_id": "u"}, "thinking": {"type": "adaptive"},
    "output_config": {"effort": "medium"}, "context_management": {"edits": []}, "betas": ["new-1"]})");
}

// The events of a stream; each line "event:" has to name its type.
std::vector<Json> events_of(const RunningServer::Answer& answer) {
  EXPECT_EQ(answer.status, 200) << answer.text;
  std::vector<Json> events;
  for (size_t at = 0; at < answer.text.size();) {
    const size_t end = answer.text.find("\n\n", at);
    const std::string event = answer.text.substr(at, end - at);
    at = end + 2;
    const size_t line = event.find("\ndata: ");
    EXPECT_TRUE(event.starts_with("event: ") && line != event.npos) << event;
    events.push_back(Json::parse(event.substr(line + 7)));
    EXPECT_EQ(event.substr(7, line - 7), events.back()["type"].get<std::string>());
  }
  return events;
}

std::string types_of(const std::vector<Json>& events) {
  std::string types;
  for (const Json& event : events) {
    const std::string type = event["type"];
    if (!types.ends_with(type + " ")) types += type + " ";
  }
  return types;
}

TEST(Messages, AWholeAnswer) {
  const RunningServer server;
  const Json text = server.post(kChat, chat("Once upon a time")).json["choices"][0]["message"]["content"];
  const auto answer = server.post(kMessages, ask("Once upon a time"));
  EXPECT_EQ(answer.status, 200) << answer.text;
  EXPECT_EQ(answer.headers.find("request-id")->second, answer.headers.find("x-request-id")->second);
  const Json& json = answer.json;
  EXPECT_TRUE(json["id"].get<std::string>().starts_with("msg_"));
  EXPECT_EQ(json["type"], "message");
  EXPECT_EQ(json["role"], "assistant");
  EXPECT_EQ(json["model"], "stories");
  EXPECT_EQ(json["content"], Json::array({{{"type", "text"}, {"text", text}}}));
  EXPECT_EQ(json["stop_reason"], "max_tokens");
  EXPECT_EQ(json["stop_sequence"], nullptr);
  EXPECT_EQ(json["usage"]["output_tokens"], 16);
  const Json count = server.post("/v1/messages/count_tokens", ask("Once upon a time")).json;
  const int n_prompt = count["input_tokens"];
  EXPECT_EQ(json["usage"]["input_tokens"].get<int>() + json["usage"]["cache_read_input_tokens"].get<int>(), n_prompt);
}

TEST(Messages, AStopSequenceIsNamed) {
  const RunningServer server;
  Json body = ask("Once upon a time", 60);
  body["stop_sequences"] = {"zebra", "there was", "upon"};
  const Json json = server.post(kMessages, body).json;
  EXPECT_EQ(json["stop_reason"], "stop_sequence") << json;
  EXPECT_EQ(json["stop_sequence"], "there was");
  EXPECT_FALSE(json["content"][0]["text"].get<std::string>().contains("there was"));
}

TEST(Messages, AStreamHasTheEventsInOrder) {
  const RunningServer server;
  Json body = ask("Once upon a time");
  const Json whole = server.post(kMessages, body).json;
  body["stream"] = true;
  const std::vector<Json> events = events_of(server.post(kMessages, body));
  EXPECT_EQ(
      types_of(events),
      "message_start content_block_start ping content_block_delta content_block_stop message_delta message_stop ");
  EXPECT_EQ(events[0]["message"]["content"], Json::array());
  EXPECT_EQ(events[0]["message"]["stop_reason"], nullptr);
  EXPECT_EQ(events[0]["message"]["usage"]["output_tokens"], 0);
  EXPECT_EQ(events[1]["content_block"], (Json{{"type", "text"}, {"text", ""}}));
  std::string text;
  for (const Json& event : events) {
    if (event["type"] == "content_block_delta") text += event["delta"]["text"];
  }
  EXPECT_EQ(Json(text), whole["content"][0]["text"]);
  const Json& end = events[events.size() - 2];
  EXPECT_EQ(end["delta"]["stop_reason"], "max_tokens");
  EXPECT_EQ(end["usage"]["output_tokens"], 16);
  EXPECT_EQ(end["usage"]["input_tokens"], events[0]["message"]["usage"]["input_tokens"]);
}

TEST(Messages, ARequestOfClaudeCode) {
  const RunningServer server({}, with_tools());
  Json body = code_request();
  const std::vector<Json> events = events_of(server.post(kMessages, body));
  EXPECT_EQ(events.front()["type"], "message_start");
  EXPECT_EQ(events.back()["type"], "message_stop");
  // The same conversation in the form of OpenAI's.
  const Json same = Json::parse(R"({"messages": [
      {"role": "system", "content": "You are a helper.\nBe brief."},
      {"role": "user", "content": "<system-reminder>Today.</system-reminder>\nWhat is here?"},
      {"role": "assistant", "content": "I look.", "tool_calls": [{"id": "toolu_1", "type": "function", "function":
          {"name": "Read", "arguments": "{\"path\":\"a.txt\"}"}}]},
      {"role": "tool", "tool_call_id": "toolu_1", "content": "Error: no file"},
      {"role": "user", "content": "Go on."}]})");
  Json with = same;
  for (const Json& tool : body["tools"]) {
    with["tools"].push_back(
        {{"type", "function"},
         {"function",
          {{"name", tool["name"]}, {"description", tool["description"]}, {"parameters", tool["input_schema"]}}}});
  }
  const std::string prompt = server.post("/apply-template", with).json["prompt"];
  const size_t n = with_tools().tokenizer().encode(prompt, {.add_bos = false, .parse_special = true}).size();
  EXPECT_EQ(server.post("/v1/messages/count_tokens", body).json["input_tokens"], n);
}

TEST(Messages, AForcedCall) {
  const RunningServer server({}, with_tools());
  Json body = ask("Look.", 200);
  body["tools"] = Json::parse(R"([{"name": "look", "input_schema": {"type": "object", "properties":
      {"at": {"enum": ["Rome", "Oslo"]}}, "required": ["at"], "additionalProperties": false}},
      {"name": "go", "input_schema": {"type": "object"}}])");
  body["tool_choice"] = {{"type", "tool"}, {"name", "look"}, {"disable_parallel_tool_use", true}};
  const Json whole = server.post(kMessages, body).json;
  EXPECT_EQ(whole["stop_reason"], "tool_use") << whole;
  ASSERT_EQ(whole["content"].size(), 1u);
  const Json& call = whole["content"][0];
  EXPECT_EQ(call["type"], "tool_use");
  EXPECT_EQ(call["name"], "look");
  EXPECT_TRUE(call["input"]["at"] == "Rome" || call["input"]["at"] == "Oslo") << call;
  body["stream"] = true;
  std::string input;
  const std::vector<Json> events = events_of(server.post(kMessages, body));
  EXPECT_EQ(events[1]["content_block"]["input"], Json::object());
  for (const Json& event : events) {
    if (event["type"] != "content_block_delta") continue;
    EXPECT_EQ(event["delta"]["type"], "input_json_delta");
    input += event["delta"]["partial_json"];
  }
  EXPECT_EQ(Json::parse(input), call["input"]);
  body["tool_choice"] = {{"type", "none"}};
  EXPECT_EQ(events_of(server.post(kMessages, body))[1]["content_block"]["type"], "text");
}

TEST(Messages, ThoughtsAreBlocksOfTheirOwn) {
  // The prompt opens a thought, unless thinking is off.
  static const Engine engine = load_with(
      "{{ bos_token }}{% for m in messages %}{{ m.content }}{% if m.reasoning_content %}{{ m.reasoning_content }}"
      "{% endif %}{% endfor %}{% if enable_thinking is not defined or enable_thinking %}<think>{% else %}"
      "<think></think>{% endif %}");
  const RunningServer server({}, engine);
  Json body = ask("Once upon a time", 8);
  body["stream"] = true;
  const std::vector<Json> events = events_of(server.post(kMessages, body));
  ASSERT_GT(events.size(), 6u);
  EXPECT_EQ(events[1]["content_block"], (Json{{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}));
  EXPECT_EQ(events[3]["delta"]["type"], "thinking_delta");
  EXPECT_EQ(events[events.size() - 4]["delta"]["type"], "signature_delta");
  body["stream"] = false;
  body["thinking"] = {{"type", "enabled"}, {"budget_tokens", 1024}};
  EXPECT_EQ(server.post(kMessages, body).json["content"][0]["type"], "thinking");
  body["thinking"] = {{"type", "disabled"}};
  EXPECT_EQ(server.post(kMessages, body).json["content"][0]["type"], "text");
}

TEST(Messages, TheAssistantsLastMessageIsContinued) {
  const RunningServer server({}, with_tools());
  Json body = ask("Hello");
  body["messages"].push_back({{"role", "assistant"}, {"content", "The capital is"}});
  const std::string prompt =
      server.post("/apply-template", chat("Hello")).json["prompt"].get<std::string>() + "The capital is";
  const size_t n = with_tools().tokenizer().encode(prompt, {.add_bos = false, .parse_special = true}).size();
  EXPECT_EQ(server.post("/v1/messages/count_tokens", body).json["input_tokens"], n);
  EXPECT_EQ(server.post(kMessages, body).status, 200);
}

TEST(Messages, ASchemaHoldsTheAnswer) {
  const RunningServer server;
  Json body = ask("Once upon a time", 60);
  const Json format = {{"type", "json_schema"},
                       {"schema",
                        {{"type", "object"},
                         {"properties", {{"a", {{"enum", {7, 8}}}}}},
                         {"required", {"a"}},
                         {"additionalProperties", false}}}};
  body["output_config"] = {{"format", format}};
  const Json text = server.post(kMessages, body).json["content"][0]["text"];
  const Json value = Json::parse(text.get<std::string>());
  EXPECT_TRUE(value["a"] == 7 || value["a"] == 8) << text;
}

TEST(Messages, AStreamThatFailsEndsWithAnError) {
  GrammarCache grammars;
  const ModelProfile model = {.engine = stories(), .name = "a", .n_ctx = 64, .defaults = {}, .grammars = grammars};
  Json body = ask("Once");
  body["stream"] = true;
  const auto asked = server::anthropic::read_message(body, model, {});
  ASSERT_TRUE(asked);
  const Json event = asked->writer->error_event({.status = 503, .message = "no memory"});
  EXPECT_EQ(event, Json::parse(R"({"type": "error", "error": {"type": "overloaded_error", "message": "no memory"}})"));
  // Before that, silence is a ping.
  const std::vector<Json> idle = asked->writer->idle_events();
  ASSERT_EQ(idle.size(), 2u);
  EXPECT_EQ(idle[0]["type"], "message_start");
  EXPECT_EQ(asked->writer->idle_events(), std::vector<Json>{idle[1]});
}

TEST(Messages, ModelsAreListedInAnthropicsForm) {
  const RunningServer server;
  const auto client = server.client();
  const auto get = [&](const std::string& path) {
    return Json::parse(client->Get(path, {{"anthropic-version", "2023-06-01"}})->body);
  };
  const Json list = get("/v1/models");
  ASSERT_EQ(list["data"].size(), 1u) << list;
  EXPECT_EQ(list["data"][0]["type"], "model");
  EXPECT_EQ(list["first_id"], "stories");
  EXPECT_EQ(list["has_more"], false);
  EXPECT_EQ(get("/v1/models/stories"), list["data"][0]);
  EXPECT_EQ(get("/v1/models/claude")["error"]["type"], "not_found_error");
  EXPECT_EQ(server.get("/v1/models").json["object"], "list");
}

TEST(Messages, ErrorsHaveAnthropicsShape) {
  const RunningServer server({.api_keys = {"secret"}});
  const auto client = server.client();
  const auto post = [&](const std::string& path, const Json& body, const httplib::Headers& headers) {
    const auto result = client->Post(path, headers, body.dump(), "application/json");
    return std::pair(result->status, Json::parse(result->body));
  };
  const httplib::Headers key = {{"x-api-key", "secret"}, {"anthropic-version", "2023-06-01"}};
  const auto check = [&](const std::string& path, const Json& body, const httplib::Headers& headers, int status,
                         const std::string& type, const std::string& words) {
    const auto [was, json] = post(path, body, headers);
    EXPECT_EQ(was, status) << json;
    EXPECT_EQ(json["type"], "error") << json;
    EXPECT_EQ(json["error"]["type"], type) << json;
    EXPECT_TRUE(json["error"]["message"].get<std::string>().contains(words)) << json;
  };
  const auto with = [](const char* name, const Json& value) {
    Json body = ask("hi");
    body[name] = value;
    return body;
  };
  const auto with_block = [](const Json& block) {
    Json body = ask("hi");
    body["messages"][0]["content"] = Json::array({block});
    return body;
  };
  const std::string wrong = "invalid_request_error";
  EXPECT_EQ(post(kMessages, ask("hi"), key).first, 200);
  EXPECT_EQ(post(kMessages, ask("hi"), {{"Authorization", "Bearer secret"}}).first, 200);
  check(kMessages, ask("hi"), {}, 401, "authentication_error", "API key");
  check(kMessages, with("model", "claude"), key, 404, "not_found_error", "claude");
  check("/v1/messages/batches", ask("hi"), key, 404, "not_found_error", "nothing at");
  check(kMessages, with("max_tokens", nullptr), key, 400, wrong, "max_tokens: is missing");
  check(kMessages, with("max_tokens", 0), key, 400, wrong, "max_tokens");
  check(kMessages, with("messages", Json::array()), key, 400, wrong, "messages");
  check(kMessages, with("guided_json", {{"a", 1}}), key, 400, wrong, "guided_json: is not supported");
  check(kMessages, with("mcp_servers", {{{"url", "x"}}}), key, 400, wrong, "mcp_servers");
  check(kMessages, with("thinking", {{"type", "much"}}), key, 400, wrong, "thinking.type: 'much'");
  check(kMessages, with("output_config", {{"effort", "bogus"}}), key, 400, wrong, "output_config.effort: 'bogus'");
  check(kMessages, with("thread", {{"type", "new"}}), key, 400, wrong, "thread: is not supported");
  EXPECT_EQ(post(kMessages, with("thread", {{"type", "new"}}), key).second["error"]["details"]["error_code"],
            "thread_unsupported_request");
  check(kMessages, with("output_config", {{"task_budget", {{"type", "tokens"}, {"total", 9}}}}), key, 400, wrong,
        "output_config.task_budget");
  check(kMessages, with("inference_geo", "us"), key, 400, wrong, "inference_geo");
  check(kMessages, with("stop_sequences", {""}), key, 400, wrong, "stop_sequences");
  check(kMessages, with("tool_choice", {{"type", "any"}}), key, 400, wrong, "tool_choice.type");
  check(kMessages, with("tools", {{{"type", "web_search_20250305"}, {"name", "web_search"}}}), key, 400, wrong,
        "tools[0].type: 'web_search_20250305'");
  check(kMessages, with_block({{"type", "image"}}), key, 400, wrong, "messages[0].content[0].type: 'image'");
  check(kMessages, with_block({{"type", "document"}, {"source", {{"type", "base64"}, {"data", ""}}}}), key, 400, wrong,
        "messages[0].content[0].source.type: 'base64'");
  check(kMessages,
        with_block({{"type", "search_result"}, {"content", Json::array()}, {"citations", {{"enabled", true}}}}), key,
        400, wrong, "citations: are not supported");
  check(kMessages, with_block({{"type", "tool_result"}, {"tool_use_id", "x"}}), key, 400, wrong, "tool_use_id");
  std::string book;
  for (int i = 0; i < 3000; ++i) book += "word ";
  check(kMessages, ask(book), key, 400, wrong, "prompt is too long: ");
}

TEST(Messages, DocumentsAreTexts) {
  const RunningServer server;
  const auto n_tokens = [&](const Json& content) {
    Json body = ask("");
    body["messages"][0]["content"] = content;
    const auto answer = server.post(kMessages + "/count_tokens", body);
    EXPECT_EQ(answer.status, 200) << answer.text;
    return answer.json["input_tokens"];
  };
  const Json source = {{"type", "text"}, {"media_type", "text/plain"}, {"data", "A cat sat."}};
  const Json parts = Json::array({{{"type", "text"}, {"text", "A cat sat."}}});
  const Json question = {{"type", "text"}, {"text", "Where?"}};
  const Json expected = n_tokens("Cats\nA cat sat.\nWhere?");
  const Json document = {{"type", "document"}, {"title", "Cats"}, {"source", source}};
  EXPECT_EQ(n_tokens(Json::array({document, question})), expected);
  const Json of_parts = {
      {"type", "document"}, {"title", "Cats"}, {"source", {{"type", "content"}, {"content", parts}}}};
  EXPECT_EQ(n_tokens(Json::array({of_parts, question})), expected);
  const Json found = {{"type", "search_result"}, {"title", "Cats"}, {"source", ""}, {"content", parts}};
  EXPECT_EQ(n_tokens(Json::array({found, question})), expected);
}

TEST(Messages, NothingIsSummarized) {
  const RunningServer server;
  Json body = ask("Once upon a time");
  EXPECT_FALSE(server.post(kMessages, body).json.contains("context_management"));
  body["context_management"] = {{"edits", {{{"type", "compact_20260112"}}}}};
  const Json short_one = server.post(kMessages, body).json;
  EXPECT_EQ(short_one["context_management"], (Json{{"applied_edits", Json::array()}})) << short_one;
  body["context_management"]["edits"][0]["trigger"] = {{"type", "input_tokens"}, {"value", 2}};
  const auto long_one = server.post(kMessages, body);
  EXPECT_EQ(long_one.status, 400);
  EXPECT_TRUE(long_one.text.contains("context_management.edits: nothing is summarized")) << long_one.text;
}

}  // namespace
}  // namespace tern::server::test::anthropic
