// Responses that are kept and continued, hosted tools, shortened conversations.
#include "server/api/api_test_support.h"
#include "support/checkout.h"

namespace tern::server::test {
namespace {

const std::string kResponses = "/v1/responses";

Json response_to(const std::string& text) { return {{"input", text}, {"max_output_tokens", 6}, {"temperature", 0}}; }

const Engine& with_roles(const char* chat_template = kTemplate) {
  static const Engine engine = Engine::load({.model_path = source_path("models/tern-stories.gguf"),
                                             .backend = BackendKind::kCpu,
                                             .chat_template = chat_template})
                                   .value();
  return engine;
}

std::string text_of(const Json& response) { return response["output"][0]["content"][0]["text"]; }

TEST(Responses, AConversationGoesOn) {
  const RunningServer server({}, with_roles());
  Json body = response_to("Once");
  body["instructions"] = "Be brief.";
  const Json first = server.post(kResponses, body).json;
  EXPECT_EQ(first["store"], true) << first;
  const std::string id = first["id"];
  EXPECT_EQ(server.get(kResponses + "/" + id).json, first);
  body = response_to("Twice");
  body["previous_response_id"] = id;
  body["stream"] = true;
  const std::string stream = server.post(kResponses, body).text;
  const size_t at = stream.rfind("data: ");
  ASSERT_NE(at, stream.npos) << stream;
  const Json second = Json::parse(stream.substr(at + 6))["response"];
  EXPECT_EQ(second["previous_response_id"], id);
  const auto n_tokens = [](const std::string& prompt) {
    return with_roles().tokenizer().encode(prompt, {.add_bos = false, .parse_special = true}).size();
  };
  // The instructions are the first request's alone.
  const std::string so_far = "<user>Once\n<assistant>" + text_of(first) + "\n<user>Twice\n<assistant>";
  EXPECT_EQ(second["usage"]["input_tokens"], n_tokens(so_far));
  body["previous_response_id"] = second["id"];
  body["input"] = "Thrice";
  body["stream"] = false;
  const Json third = server.post(kResponses, body).json;
  EXPECT_EQ(third["usage"]["input_tokens"], n_tokens(so_far + text_of(second) + "\n<user>Thrice\n<assistant>"));
  // Deleting one leaves those that continue it.
  const auto deleted = server.client()->Delete(kResponses + "/" + id);
  EXPECT_EQ(Json::parse(deleted->body), (Json{{"id", id}, {"object", "response"}, {"deleted", true}}));
  EXPECT_EQ(server.client()->Delete(kResponses + "/" + id)->status, 404);
  EXPECT_EQ(server.get(kResponses + "/" + id).status, 404);
  EXPECT_EQ(server.post(kResponses, body).status, 200);
  body["previous_response_id"] = id;
  EXPECT_EQ(server.post(kResponses, body).json["error"]["code"], "previous_response_not_found");
}

TEST(Responses, WhatShouldNotBeKeptIsNot) {
  const RunningServer server;
  Json body = response_to("Once");
  body["store"] = false;
  const Json answer = server.post(kResponses, body).json;
  EXPECT_EQ(answer["store"], false);
  EXPECT_EQ(server.get(kResponses + "/" + answer["id"].get<std::string>()).status, 404);
}

TEST(Responses, KeptItemsMayBeReferredTo) {
  const RunningServer server({}, with_roles());
  const Json first = server.post(kResponses, response_to("Once")).json;
  const std::string id = first["output"][0]["id"];
  Json body = response_to("");
  body["input"] = Json::array({{{"role", "user"}, {"content", "Once"}},
                               {{"type", "item_reference"}, {"id", id}},
                               {{"role", "user"}, {"content", "More."}}});
  const Json by_reference = server.post(kResponses, body).json;
  body["input"][1] = first["output"][0];
  const Json whole = server.post(kResponses, body).json;
  EXPECT_EQ(by_reference["usage"]["input_tokens"], whole["usage"]["input_tokens"]) << by_reference;
  body["input"][1] = {{"type", "item_reference"}, {"id", "msg_none"}};
  const auto refused = server.post(kResponses, body);
  EXPECT_EQ(refused.status, 400);
  EXPECT_TRUE(refused.text.contains("input[1].id: 'msg_none' is not kept here")) << refused.text;
}

TEST(Responses, AConversationBegunElsewhereGoesOn) {
  static const Engine engine = Engine::load({.model_path = source_path("models/tern-stories.gguf"),
                                             .backend = BackendKind::kCpu,
                                             .chat_template = kToolTemplate})
                                   .value();
  const RunningServer server({}, engine);
  Json body = response_to("");
  body["input"] = Json::parse(R"([{"role": "user", "content": "hi"}, {"type": "web_search_call", "id": "ws_1"},
      {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": "*** Begin"},
      {"type": "custom_tool_call_output", "call_id": "c1", "output": "Done"},
      {"type": "local_shell_call", "call_id": "c2", "action": {"command": ["ls"]}},
      {"type": "local_shell_call_output", "call_id": "c2", "output": "a.txt"}])");
  const auto answer = server.post(kResponses, body);
  EXPECT_EQ(answer.status, 200) << answer.text;
  ASSERT_EQ(answer.json["notes"].size(), 1u) << answer.text;
  EXPECT_TRUE(answer.json["notes"][0].get<std::string>().starts_with("input[1].type: 'web_search_call' was left out"));
  body["input"][1]["type"] = "no_such_call";
  EXPECT_EQ(server.post(kResponses, body).status, 400);
}

TEST(Responses, WhatIsCutIsIncomplete) {
  const RunningServer server({}, with_roles());
  Json body = response_to("Once");
  body["max_output_tokens"] = 2;
  const Json answer = server.post(kResponses, body).json;
  EXPECT_EQ(answer["status"], "incomplete");
  EXPECT_EQ(answer["output"][0]["status"], "incomplete") << answer;
}

TEST(Responses, HostedToolsAreLeftOutWithANote) {
  static const Engine engine = Engine::load({.model_path = source_path("models/tern-stories.gguf"),
                                             .backend = BackendKind::kCpu,
                                             .chat_template = kToolTemplate})
                                   .value();
  const RunningServer server({}, engine);
  const Json body = Json::parse(R"({"instructions": "Be brief.", "input": [{"type": "message", "role": "user",
      "content": [{"type": "input_text", "text": "hi"}]}], "tools": [{"type": "function", "name": "shell",
      "strict": false, "parameters": {"type": "object", "properties": {"command": {"type": "array", "items":
      {"type": "string"}}}, "required": ["command"], "additionalProperties": false}}, {"type": "web_search"}],
      "tool_choice": "auto", "parallel_tool_calls": false, "reasoning": {"effort": "medium", "summary": "auto"},
      "store": false, "include": ["reasoning.encrypted_content"], "prompt_cache_key": "k", "max_output_tokens": 16,
      "truncation": "auto"})");
  const auto answer = server.post(kResponses, body);
  EXPECT_EQ(answer.status, 200) << answer.text;
  ASSERT_EQ(answer.json["notes"].size(), 1u) << answer.text;
  EXPECT_TRUE(answer.json["notes"][0].get<std::string>().starts_with("tools[1]: 'web_search' was left out"));
  EXPECT_EQ(answer.json["truncation"], "auto");
  const Json counted = server.post(kResponses + "/input_tokens", body).json;
  EXPECT_EQ(counted["object"], "response.input_tokens");
  EXPECT_EQ(counted["input_tokens"], answer.json["usage"]["input_tokens"]);
}

TEST(Responses, ALongConversationIsShortenedIfItMayBe) {
  const RunningServer server({.scheduler = {.n_ctx = 128}}, with_roles());
  Json body = response_to("");
  body["instructions"] = "Be brief.";
  body["input"] = Json::array();
  for (int i = 0; i < 40; ++i) {
    body["input"].push_back({{"role", "user"}, {"content", "Where is the cat?"}});
    body["input"].push_back({{"role", "assistant"}, {"content", "Here."}});
  }
  body["input"].push_back({{"role", "user"}, {"content", "Last."}});
  EXPECT_EQ(server.post(kResponses, body).json["error"]["code"], "context_length_exceeded");
  body["truncation"] = "auto";
  const Json answer = server.post(kResponses, body).json;
  const int n = answer["usage"]["input_tokens"];
  EXPECT_LE(n, 96) << answer;  // three quarters
  const auto n_tokens = [](const std::string& prompt) {
    return static_cast<int>(with_roles().tokenizer().encode(prompt, {.add_bos = false, .parse_special = true}).size());
  };
  const std::string end = "<user>Last.\n<assistant>", turn = "<user>Where is the cat?\n<assistant>Here.\n";
  std::string prompt = "<system>Be brief.\n" + end;
  while (n_tokens(prompt) < n) prompt.insert(prompt.size() - end.size(), turn);
  EXPECT_EQ(n_tokens(prompt), n);  // whole turns, as many as fit
  EXPECT_GT(n_tokens(prompt.insert(prompt.size() - end.size(), turn)), 96);
}

}  // namespace
}  // namespace tern::server::test
