// Requests that the server refuses, and its error messages.

#include "server/api/api_test_support.h"

namespace tern::server::test {
namespace {

TEST(ApiServer, BadRequestsAreRefusedByName) {
  const RunningServer server({.limits = {.body_bytes = 1 << 20}});
  const std::string hi = R"("messages": [{"role": "user", "content": "hi"}])";
  std::string many = R"({"prompt": "a", "stop": ["x")";
  for (int i = 0; i < 10'000; ++i) many += ", \"x\"";
  many += "]}";
  std::string book = R"({"prompt": ")";
  for (int i = 0; i < 3000; ++i) book += "word ";
  book += "\"}";
  const std::vector<Refusal> refusals = {
      {kChat, "{", 400, "", "not JSON"},
      {kChat, "", 400, "", "not JSON"},
      {kChat, "[]", 400, "", "object"},
      {kChat, std::string(10'000, '['), 400, "", "256 levels"},
      {kChat,
       R"({"messages": ")"
       "\xff"
       R"("})",
       400, "", "not JSON"},
      {kChat, "{}", 400, "messages", "missing"},
      {kChat, R"({"messages": []})", 400, "messages", "at least one"},
      {kChat, R"({"messages": "hi"})", 400, "messages", "list"},
      {kChat, R"({"messages": [7]})", 400, "messages[0]", "object"},
      {kChat, R"({"messages": [{"role": "king", "content": "hi"}]})", 400, "messages[0].role", "king"},
      {kChat, R"({"messages": [{"content": "hi"}]})", 400, "messages[0].role", "missing"},
      {kChat, R"({"messages": [{"role": "user", "content": 7}]})", 400, "messages[0].content", "string"},
      {kChat, R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})", 400,
       "messages[0].content[0].type", "image_url"},
      {kChat, "{" + hi + R"(, "model": "gpt-9"})", 404, "model", "gpt-9"},
      {kChat, "{" + hi + R"(, "model": 9})", 400, "model", "string"},
      {kChat, "{" + hi + R"(, "temperature": "hot"})", 400, "temperature", "number"},
      {kChat, "{" + hi + R"(, "temperature": -1})", 400, "temperature", "from 0"},
      {kChat, "{" + hi + R"(, "top_p": 1.5})", 400, "top_p", "to 1"},
      {kChat, "{" + hi + R"(, "n": 0})", 400, "n", "from 1"},
      {kChat, "{" + hi + R"(, "n": 1e9})", 400, "n", "to 64"},
      {kChat, "{" + hi + R"(, "max_tokens": 1e30})", 400, "max_tokens", "from -1"},
      {kChat, "{" + hi + R"(, "max_tokens": 1.5})", 400, "max_tokens", "whole"},
      {kChat, "{" + hi + R"(, "seed": "x"})", 400, "seed", "whole"},
      {kChat, "{" + hi + R"(, "stream": "yes"})", 400, "stream", "true or false"},
      {kChat, "{" + hi + R"(, "stream_options": {"include_usage": true}})", 400, "stream_options", "stream"},
      {kChat, "{" + hi + R"(, "stop": [""]})", 400, "stop", "empty"},
      {kChat, "{" + hi + R"(, "logit_bias": {"99999": 1}})", 400, "logit_bias.99999", "no token"},
      {kChat, "{" + hi + R"(, "logit_bias": {"1": 101}})", 400, "logit_bias.1", "to 100"},
      {kChat, "{" + hi + R"(, "guided_json": {"type": "object"}})", 400, "guided_json", "response_format"},
      {kChat, "{" + hi + R"(, "structured_outputs": {"regex": "a"}})", 400, "structured_outputs", "not supported"},
      {kText, R"({"prompt": "a", "format": {"type": "object"}})", 400, "format", "not supported"},
      {"/v1/responses", R"({"input": "a", "guided_regex": "a|b"})", 400, "guided_regex", "text.format"},
      {"/v1/responses", R"({"input": "a", "background": true})", 400, "background", "not supported"},
      {"/v1/responses", R"({"input": "a", "context_management": [{"type": "compaction"}]})", 400, "context_management",
       "not supported"},
      {"/v1/responses", R"({"input": "a", "text": {"verbosity": "loud"}})", 400, "text.verbosity", "loud"},
      {kChat, "{" + hi + R"(, "top_logprobs": 2})", 400, "top_logprobs", "logprobs"},
      {kChat, "{" + hi + R"(, "logprobs": true, "top_logprobs": 21})", 400, "top_logprobs", "to 20"},
      {kChat, "{" + hi + R"(, "modalities": ["text", "audio"]})", 400, "modalities", "audio"},
      {kChat, "{" + hi + R"(, "audio": {"voice": "ash", "format": "wav"}})", 400, "audio", "write text"},
      {kChat, "{" + hi + R"(, "web_search_options": {}})", 400, "web_search_options", "not supported"},
      {kChat, "{" + hi + R"(, "moderation": {"model": "m"}})", 400, "moderation", "not supported"},
      {kChat, "{" + hi + R"(, "service_tier": "gold"})", 400, "service_tier", "auto, default"},
      {kChat, "{" + hi + R"(, "verbosity": 3})", 400, "verbosity", "string"},
      {kChat, "{" + hi + R"(, "prediction": {"type": "guess"}})", 400, "prediction.type", "guess"},
      {kChat, "{" + hi + R"(, "metadata": {"a": 1}})", 400, "metadata", "texts"},
      {kChat, "{" + hi + R"(, "user": 7})", 400, "user", "string"},
      {kText, "{}", 400, "prompt", "missing"},
      {kText, R"({"prompt": {}})", 400, "prompt", "string"},
      {kText, R"({"prompt": []})", 400, "prompt", "empty"},
      {kText, R"({"prompt": [999999]})", 400, "prompt", "999999"},
      {kText, R"({"prompt": [-1]})", 400, "prompt", "-1"},
      {kText, R"({"prompt": ["a", []]})", 400, "prompt[1]", "empty"},
      {kText, R"({"prompt": ["a", 7]})", 400, "prompt[1]", "string"},
      {kText, R"({"prompt": [[1], [999999]]})", 400, "prompt[1]", "999999"},
      {kText, R"({"prompt": "a", "suffix": "b"})", 400, "suffix", "no tokens"},
      {kText, R"({"prompt": "a", "best_of": 3})", 400, "best_of", "not supported"},
      {kText, many, 400, "stop", "10001"},
      {kText, book, 400, "prompt", "context holds 1024"},
      {kText, R"({"prompt": ")" + std::string(2 << 20, 'a') + "\"}", 413, "", "1048576"},
      {"/v1/embeddings", R"({"input": "a"})", 501, "", "--embedding"},
      {"/v1/nothing", "{}", 404, "", "/v1/nothing"},
      {"/detokenize", R"({"tokens": [1e9]})", 400, "tokens", "no token"},
      {"/apply-template", "{" + hi + "}", 400, "", "no chat template"},
  };
  for (const Refusal& refusal : refusals) {
    const auto answer = server.post(refusal.path, refusal.body);
    SCOPED_TRACE(refusal.path + " " + refusal.body.substr(0, 120) + " → " + answer.text.substr(0, 300));
    EXPECT_EQ(answer.status, refusal.status);
    ASSERT_TRUE(answer.json.is_object() && answer.json.contains("error"));
    const Json& error = answer.json["error"];
    EXPECT_TRUE(error["message"].get<std::string>().contains(refusal.words));
    EXPECT_EQ(error["param"], refusal.param.empty() ? Json(nullptr) : Json(refusal.param));
    EXPECT_TRUE(error["type"].is_string());
  }
  EXPECT_EQ(server.get("/v1/models/nobody").status, 404);
  EXPECT_EQ(server.get("/metrics").status, 501);
  EXPECT_EQ(server.get(kChat).status, 404);
  EXPECT_EQ(server.post(kText, completion("Once")).status, 200);  // the server still works
}

TEST(ApiServer, BothNumbersAreInTheMessageOfALongPrompt) {
  const RunningServer server({.scheduler = {.n_ctx = 64}});
  std::string prompt;
  for (int i = 0; i < 100; ++i) prompt += " dog";
  const size_t n = stories().tokenizer().encode(prompt).size();
  const Json error = server.post(kText, completion(prompt)).json["error"];
  EXPECT_EQ(error["code"], "context_length_exceeded");
  EXPECT_TRUE(error["message"].get<std::string>().contains(std::to_string(n) + " tokens, but the context holds 64"));
}

TEST(ApiServer, UnknownFieldsAndNullsChangeNothing) {
  const RunningServer server;
  Json body = chat("Once upon a time");
  const Json expected = server.post(kChat, body).json["choices"];
  for (const char* name :
       {"user", "metadata", "n", "stop", "seed", "top_p", "tools", "logit_bias", "response_format"}) {
    body[name] = nullptr;
  }
  body["something"] = {{"else", 1}};
  body["response_format"] = {{"type", "text"}};
  body["tools"] = Json::array();
  body["modalities"] = {"text"};
  body["prediction"] = {{"type", "content"}, {"content", "there was"}};
  body["verbosity"] = "low";
  EXPECT_EQ(server.post(kChat, body).json["choices"], expected);
}

TEST(ApiServer, OnlyThoseWithAKey) {
  const RunningServer server({.api_keys = {"secret", "other"}});
  EXPECT_EQ(server.post(kText, completion("Once")).status, 401);
  EXPECT_EQ(server.get("/v1/models").status, 401);
  EXPECT_EQ(server.get("/health").status, 200);
  for (const auto& [name, value, status] : {std::tuple{"Authorization", "Bearer secret", 200},
                                            {"Authorization", "Bearer other", 200},
                                            {"X-Api-Key", "secret", 200},
                                            {"Authorization", "Bearer secre", 401},
                                            {"Authorization", "Bearer secretx", 401},
                                            {"X-Api-Key", "", 401}}) {
    const auto answer = server.client()->Get("/v1/models", httplib::Headers{{name, value}});
    ASSERT_TRUE(answer) << name << ": " << value << " " << httplib::to_string(answer.error());
    EXPECT_EQ(answer->status, status) << name << ": " << value;
  }
}

TEST(ApiServer, ManyThatWaitAreSentAway) {
  const RunningServer server({.scheduler = {.max_replies = 1}, .max_waiting = 2});
  Json body = completion("Once upon a time", 4);
  body["n"] = 3;  // one runs, two wait
  EXPECT_EQ(server.post(kText, body).status, 200);
  Json long_one = completion("Once upon a time", 100);
  long_one["n"] = 3;
  long_one["ignore_eos"] = true;
  // Until the server has noticed that the answer before has ended.
  const std::jthread other([&] {
    while (server.post(kText, long_one).status == 429) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  body["n"] = 1;
  auto answer = server.post(kText, body);
  for (int look = 0; look < 1000 && answer.status == 200; ++look) answer = server.post(kText, body);
  EXPECT_EQ(answer.status, 429);
  EXPECT_TRUE(answer.headers.contains("Retry-After"));
  EXPECT_EQ(answer.json["error"]["code"], "queue_full");
}

TEST(ApiServer, WhereNoneMayWaitThereIsStillOnePlace) {
  const RunningServer server({.scheduler = {.max_replies = 1}, .max_waiting = 0});
  for (int i = 0; i < 2; ++i) {
    int status = 429;  // until the server has noticed that the previous answer has ended
    for (int look = 0; look < 100 && status == 429; ++look) status = server.post(kText, completion("Once", 3)).status;
    EXPECT_EQ(status, 200);
  }
}

TEST(ApiServer, FormatsThatCannotBeHeldAreRefused) {
  const RunningServer server;
  const std::string hi = R"("messages": [{"role": "user", "content": "hi"}], )";
  const std::vector<Refusal> refusals = {
      {"", R"("response_format": {"type": "xml"})", 400, "response_format.type", "xml"},
      {"", R"("response_format": {"type": "json_schema"})", 400, "response_format.json_schema", "missing"},
      {"", R"("response_format": {"type": "json_schema", "json_schema": {}})", 400,
       "response_format.json_schema.schema", "missing"},
      {"", R"("response_format": {"type": "json_schema", "json_schema": {"schema": {"uniqueItems": true}}})", 400,
       "response_format.json_schema.schema", "uniqueItems"},
      {"", R"("grammar": "root ::= (")", 400, "grammar", ""},
      {"", R"("grammar": "root ::= \"a\"", "json_schema": {})", 400, "grammar", "one of them"},
      {"", R"("tools": [{"type": "function", "function": {"name": "f"}}])", 400, "tools", "no chat template"},
      {"", R"("tool_choice": "required")", 400, "tool_choice", "no tools"},
      {"", R"("tool_choice": "maybe")", 400, "tool_choice", "maybe"},
  };
  for (const Refusal& refusal : refusals) {
    const auto answer = server.post(kChat, "{" + hi + refusal.body + "}");
    EXPECT_EQ(answer.status, refusal.status) << refusal.body << answer.text;
    EXPECT_EQ(answer.json["error"]["param"], refusal.param) << answer.text;
    EXPECT_TRUE(answer.json["error"]["message"].get<std::string>().contains(refusal.words)) << answer.text;
  }
}

// A model that only continues texts would leave them out.
TEST(ApiServer, CallsAndResultsNeedAChatTemplate) {
  const RunningServer server;
  const Json call = {{"id", "a"}, {"type", "function"}, {"function", {{"name", "f"}, {"arguments", "{}"}}}};
  for (const Json& message : {Json{{"role", "assistant"}, {"content", "So:"}, {"tool_calls", {call}}},
                              Json{{"role", "tool"}, {"tool_call_id", "a"}, {"content", "5"}}}) {
    Json body = chat("hi");
    body["messages"].push_back(message);
    const auto answer = server.post(kChat, body);
    EXPECT_EQ(answer.status, 400) << answer.text;
    EXPECT_EQ(answer.json["error"]["param"], "messages");
    EXPECT_TRUE(answer.text.contains("no tool calls and results")) << answer.text;
  }
}

}  // namespace
}  // namespace tern::server::test
