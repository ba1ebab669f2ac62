// Responses that are kept and continued, hosted tools, shortened conversations.
#include "server/api/api_test_support.h"
#include "support/checkout.h"

namespace tern::server::test {
namespace {

const std::string kResponses = "/v1/responses";

Json response_to(const std::string& text) { return {{"input", text}, {"max_output_tokens", 6}, {"temperature", 0}}; }

const Engine& with_roles() {
  static const Engine engine = Engine::load({.model_path = source_path("models/tern-stories.gguf"),
                                             .backend = BackendKind::kCpu,
                                             .chat_template = kTemplate})
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
  body["input"] = Json::array({{{"role", "user"}, {"content", id}}, {{"type", "item_reference"}, {"id", id}}});
  EXPECT_EQ(server.post(kResponses, body).status, 200);
  body["input"].push_back({{"type", "item_reference"}, {"id", id}});
  EXPECT_TRUE(server.post(kResponses, body).text.contains("input[2].id: '" + id + "' is referred to twice"));
}

// To another key, what is kept for one is as unknown as what never was.
TEST(Responses, WhatIsKeptForAKeyIsNotThereForAnother) {
  const RunningServer server({.api_keys = {"one", "other"}}, with_roles());
  const auto client = server.client();
  const auto as = [](const char* key) { return httplib::Headers{{"Authorization", std::string("Bearer ") + key}}; };
  const auto post = [&](const char* key, const std::string& path, const Json& body) {
    return client->Post(path, as(key), body.dump(), "application/json");
  };
  Json chat = {{"messages", {{{"role", "user"}, {"content", "Once"}}}}, {"max_tokens", 4}, {"store", true}};
  const Json response = Json::parse(post("one", kResponses, response_to("Once"))->body);
  const Json kept_chat = Json::parse(post("one", "/v1/chat/completions", chat)->body);
  const std::string at = kResponses + "/" + response["id"].get<std::string>();
  const std::string chat_at = "/v1/chat/completions/" + kept_chat["id"].get<std::string>();
  for (const std::string& path : {at, at + "/input_items", chat_at, chat_at + "/messages"}) {
    EXPECT_EQ(client->Get(path, as("one"))->status, 200) << path;
    EXPECT_EQ(client->Get(path, as("other"))->status, 404) << path;
  }
  for (const std::string& path : {at, chat_at}) EXPECT_EQ(client->Delete(path, as("other"))->status, 404) << path;
  EXPECT_EQ(post("other", at + "/cancel", Json::object())->status, 404);
  EXPECT_EQ(post("one", at + "/cancel", Json::object())->status, 400);

  Json next = response_to("Twice");
  next["previous_response_id"] = response["id"];
  Json item = response_to("");
  item["input"] = Json::array({{{"type", "item_reference"}, {"id", response["output"][0]["id"]}}});
  for (const Json& body : {next, item}) {
    const std::string refused = post("other", kResponses, body)->body;
    EXPECT_TRUE(refused.contains("is not kept here any more")) << refused;
    for (const std::string& path : {kResponses, kResponses + "/input_tokens"}) {
      EXPECT_EQ(post("one", path, body)->status, 200) << path;
      EXPECT_EQ(post("other", path, body)->status, 400) << path;
    }
  }
  for (const std::string& path : {at, chat_at}) EXPECT_EQ(client->Delete(path, as("one"))->status, 200) << path;
}

TEST(Responses, AnItemIsFoundThoughAnEarlierTextIsItsId) {
  ResponseStore store;
  const auto keep = [&](const std::string& id, const Json& item) {
    store.keep(id, {.response = Json::object(), .items = Json::array({item})});
  };
  keep("a", {{"id", "msg_1"}, {"content", "msg_2"}});
  keep("b", {{"id", "msg_2"}, {"content", "b"}});
  keep("c", {{"id", 7}});
  const auto found = store.find_items({"msg_2", "msg_3"}, "");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at("msg_2")["content"], "b");
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

// Agents send instructions, and then messages of the developer.
TEST(Responses, ATemplateWithOneSystemMessageGetsOne) {
  static const Engine engine =
      Engine::load({.model_path = source_path("models/tern-stories.gguf"),
                    .backend = BackendKind::kCpu,
                    .chat_template = "{% for m in messages %}{% if m.role == 'system' and not loop.first %}"
                                     "{{ raise_exception('one system message') }}{% endif %}<{{ m.role }}>"
                                     "{{ m.content }}\n{% endfor %}<assistant>"})
          .value();
  const RunningServer server({}, engine);
  Json body = response_to("");
  body["instructions"] = "Be brief.";
  body["input"] = {{{"role", "developer"}, {"content", "Be kind."}}, {{"role", "user"}, {"content", "Once"}}};
  const Json answer = server.post(kResponses, body).json;
  const auto wanted = engine.tokenizer().encode("<system>Be brief.\n\nBe kind.\n<user>Once\n<assistant>",
                                                {.add_bos = false, .parse_special = true});
  EXPECT_EQ(answer["usage"]["input_tokens"], wanted.size()) << answer;
  body["input"].push_back({{"role", "developer"}, {"content", "Later."}});
  EXPECT_TRUE(server.post(kResponses, body).text.contains("one system message"));
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

// A model that thinks as long as it may.
constexpr const char* kResponseThinker =
    "{% for m in messages %}{{ m.role }}:{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>"
    "{% endif %}{{ m.content or '' }};{% endfor %}<think>";

const Engine& thinker() {
  static const Engine engine =
      Engine::load(
          {.model_path = tern::test::plain_model(), .backend = BackendKind::kCpu, .chat_template = kResponseThinker})
          .value();
  return engine;
}

Json thinking_about(const std::string& text) {
  Json body = response_to(text);
  body["max_output_tokens"] = 30;
  body["reasoning"] = {{"max_tokens", 5}};
  return body;
}

std::vector<Json> events_of(const std::string& text) {
  std::vector<Json> events;
  size_t at = 0;
  while ((at = text.find("event: ", at)) != text.npos) {
    const size_t data = text.find("data: ", at), end = text.find("\n\n", at);
    events.push_back(Json::parse(text.substr(data + 6, end - data - 6)));
    EXPECT_EQ(events.back()["type"], text.substr(at + 7, data - at - 8));
    at = end;
  }
  return events;
}

TEST(Responses, AKeptStreamIsTheSameOnceMore) {
  const RunningServer server({}, thinker());
  Json body = thinking_about("Once");
  body["stream"] = true;
  for (const bool is_plain : {true, false}) {
    if (!is_plain) {
      body["reasoning"]["summary"] = "auto";
      body["include"] = {"reasoning.encrypted_content", "message.output_text.logprobs"};
      body["top_logprobs"] = 2;
    }
    const std::vector<Json> events = events_of(server.post(kResponses, body).text);
    ASSERT_GT(events.size(), 20u);
    const std::string path = kResponses + "/" + events[0]["response"]["id"].get<std::string>();
    EXPECT_EQ(events_of(server.get(path + "?stream=true").text), events);
    const std::vector<Json> rest = events_of(server.get(path + "?stream=true&starting_after=7").text);
    EXPECT_EQ(rest, std::vector(events.begin() + 8, events.end()));
    EXPECT_EQ(server.get(path + "?stream=true&starting_after=x").status, 400);
  }
  body["stream"] = false;
  const Json whole = server.post(kResponses, body).json;
  const std::string path = kResponses + "/" + whole["id"].get<std::string>();
  const std::vector<Json> events = events_of(server.get(path + "?stream=true").text);
  EXPECT_EQ(events.back()["response"], whole);
  EXPECT_EQ(server.get(kResponses + "/resp_none?stream=true").status, 404);
}

TEST(Responses, ThoughtsAreToldAndComeBack) {
  const RunningServer server({}, thinker());
  Json body = thinking_about("Once");
  const Json plain = server.post(kResponses, body).json["output"];
  ASSERT_EQ(plain.size(), 2u) << plain;
  EXPECT_EQ(plain[0]["content"][0]["type"], "reasoning_text");
  EXPECT_FALSE(plain[0].contains("encrypted_content"));
  body["reasoning"]["summary"] = "detailed";
  body["include"] = {"reasoning.encrypted_content"};
  const Json told = server.post(kResponses, body).json["output"];
  EXPECT_EQ(told[0]["content"], Json::array());
  EXPECT_EQ(told[0]["summary"][0], (Json{{"type", "summary_text"}, {"text", plain[0]["content"][0]["text"]}}));

  const auto n_tokens = [&](const Json& thought) {
    Json again = response_to("");
    again["input"] = Json::array({{{"role", "user"}, {"content", "Once"}}, thought, plain[1]});
    return server.post(kResponses + "/input_tokens", again).json["input_tokens"].get<int>();
  };
  const Json as_code = {{"type", "reasoning"},
                        {"id", "rs_1"},
                        {"summary", Json::array()},
                        {"encrypted_content", told[0]["encrypted_content"]}};
  Json foreign = as_code;
  foreign["encrypted_content"] = "gAAAAB";
  EXPECT_EQ(n_tokens(plain[0]), n_tokens(told[0]));
  EXPECT_EQ(n_tokens(plain[0]), n_tokens(as_code));
  EXPECT_LT(n_tokens(foreign), n_tokens(as_code));
  body["input"] = Json::array({foreign, {{"role", "user"}, {"content", "Once"}}});
  const Json noted = server.post(kResponses, body).json;
  EXPECT_TRUE(noted["notes"][0].get<std::string>().contains("input[0].encrypted_content: was left out")) << noted;
  body["reasoning"]["summary"] = "long";
  EXPECT_TRUE(server.post(kResponses, body).text.contains("reasoning.summary: 'long'"));
}

TEST(Responses, TokensHaveProbabilities) {
  const RunningServer server({}, thinker());
  Json body = thinking_about("Once");
  body["top_logprobs"] = 2;
  const Json output = server.post(kResponses, body).json["output"];
  const Json part = output[1]["content"][0];
  std::string text;
  for (const Json& one : part["logprobs"]) {
    text += one["token"].get<std::string>();
    EXPECT_EQ(one["top_logprobs"].size(), 2u);
  }
  EXPECT_EQ(part["text"], text) << part;
}

TEST(Responses, TheirInputIsListed) {
  const RunningServer server({}, with_roles());
  const Json first = server.post(kResponses, response_to("Once")).json;
  Json body = response_to("Twice");
  body["previous_response_id"] = first["id"];
  const std::string path = kResponses + "/" + server.post(kResponses, body).json["id"].get<std::string>();
  const Json list = server.get(path + "/input_items?order=asc").json;
  ASSERT_EQ(list["data"].size(), 3u) << list;
  EXPECT_EQ(list["data"][0]["content"][0]["text"], "Once");
  EXPECT_EQ(list["data"][1], first["output"][0]);
  EXPECT_EQ(list["data"][2]["content"][0]["text"], "Twice");
  EXPECT_TRUE(list["last_id"].get<std::string>().starts_with("msg_"));
  EXPECT_EQ(server.post(path + "/cancel", Json::object()).status, 400);
  EXPECT_EQ(server.post(kResponses + "/resp_none/cancel", Json::object()).status, 404);
}

TEST(Responses, FieldsOfWrongTypesAreRefusedByName) {
  const RunningServer server;
  const auto says = [&](const char* body) {
    const auto answer = server.post(kResponses, Json::parse(body));
    EXPECT_EQ(answer.status, 400) << body << answer.text;
    return answer.text;
  };
  const auto expect = [&](const char* body, std::string_view what) {
    EXPECT_TRUE(says(body).contains(what)) << body << says(body);
  };
  expect(R"({"input": [{"type": 5}]})", "input[0].type: must be a string");
  expect(R"({"input": [{"type": null}]})", "input[0].role: is missing");
  expect(R"({"input": [{"type": "item_reference", "id": 5}]})", "input[0].id: '' is not kept");
  expect(R"({"input": [{"content": "a"}, {"content": "b"}]})", "input[0].role: is missing");
  expect(R"({"input": [{"role": "assistant", "content": "a", "tool_calls": 5},
                       {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}]})",
         "input[0].tool_calls");
  expect(R"({"input": "a", "metadata": 5})", "metadata: must be an object");
}

}  // namespace
}  // namespace tern::server::test
