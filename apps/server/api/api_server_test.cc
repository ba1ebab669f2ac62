// The server as its clients see it. What an answer says is compared with what a session of the same engine writes.
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "server/api/api_test_support.h"

namespace tern::server::test {
namespace {

TEST(ApiServer, ACompletionIsWhatASessionWrites) {
  const RunningServer server;
  const GenerateResult expected = alone("Once upon a time", {.max_tokens = 16, .sample = {.temperature = 0.0f}});
  const auto answer = server.post(kText, completion("Once upon a time"));
  ASSERT_EQ(answer.status, 200) << answer.text;
  EXPECT_EQ(answer.json["object"], "text_completion");
  EXPECT_EQ(answer.json["model"], "stories");
  const Json& choice = answer.json["choices"][0];
  EXPECT_EQ(choice["text"], expected.text);
  EXPECT_EQ(choice["finish_reason"], "length");
  EXPECT_EQ(answer.json["usage"]["prompt_tokens"], expected.stats.n_prompt);
  EXPECT_EQ(answer.json["usage"]["completion_tokens"], 16);
  EXPECT_EQ(answer.json["usage"]["total_tokens"], expected.stats.n_prompt + 16);
}

TEST(ApiServer, PromptsOfTokensAndEchoes) {
  const RunningServer server;
  const std::vector<TokenId> tokens = stories().tokenizer().encode("Once upon a time");
  const Json text = server.post(kText, completion("Once upon a time")).json["choices"][0]["text"];
  Json body = completion("");
  for (const Json& prompt : {Json(tokens), Json{tokens}, Json{"Once upon a time"}}) {
    body["prompt"] = prompt;
    EXPECT_EQ(server.post(kText, body).json["choices"][0]["text"], text) << prompt;
  }
  body["prompt"] = "Once upon a time";
  body["echo"] = true;
  const std::string whole = "Once upon a time" + text.get<std::string>();
  EXPECT_EQ(server.post(kText, body).json["choices"][0]["text"], whole);
  std::string streamed;
  for (const Json& event : server.stream(kText, body)) streamed += event["choices"][0]["text"];
  EXPECT_EQ(streamed, whole);
}

TEST(ApiServer, AStreamSaysWhatTheWholeAnswerSays) {
  const RunningServer server;
  Json body = chat("Once upon a time there was a", 40);
  const Json whole = server.post(kChat, body).json;
  body["stream_options"] = {{"include_usage", true}};
  const std::vector<Json> events = server.stream(kChat, body);
  ASSERT_GT(events.size(), 40u);
  EXPECT_EQ(events[0]["choices"][0]["delta"]["role"], "assistant");
  std::string text;
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    EXPECT_EQ(events[i]["object"], "chat.completion.chunk");
    EXPECT_EQ(events[i]["id"], events[0]["id"]);
    EXPECT_TRUE(events[i]["usage"].is_null());
    text += events[i]["choices"][0]["delta"].value("content", "");
    EXPECT_EQ(events[i]["choices"][0]["finish_reason"].is_null(), i + 2 < events.size());
  }
  EXPECT_EQ(Json(text), whole["choices"][0]["message"]["content"]);
  EXPECT_EQ(events[events.size() - 2]["choices"][0]["finish_reason"], "length");
  EXPECT_TRUE(events.back()["choices"].empty());
  EXPECT_EQ(events.back()["usage"]["completion_tokens"], 40);
}

TEST(ApiServer, AChatIsRenderedInTheModelsTemplate) {
  static const Engine engine = Engine::load({.model_path = TERN_SOURCE_DIR "/models/tern-stories.gguf",
                                             .backend = BackendKind::kCpu,
                                             .chat_template = kTemplate})
                                   .value();
  const RunningServer server({}, engine);
  Json body = chat("Who?");
  body["messages"] = Json::parse(R"([{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Who?"},
      {"role": "user", "content": [{"type": "text", "text": "You"}, {"type": "text", "text": "?"}]}])");
  const std::string prompt = "<system>Be brief.\n<user>Who?\n<user>You?\n<assistant>";
  EXPECT_EQ(server.post("/apply-template", body).json["prompt"], prompt);
  const int n = static_cast<int>(engine.tokenizer().encode(prompt, {.add_bos = false, .parse_special = true}).size());
  EXPECT_EQ(server.post(kChat, body).json["usage"]["prompt_tokens"], n);
}

TEST(ApiServer, ThoughtsThatTheTemplateHasNoPlaceFor) {
  const auto prompt_with = [](const char* chat_template) {
    const Engine engine = Engine::load({.model_path = TERN_SOURCE_DIR "/models/tern-stories.gguf",
                                        .backend = BackendKind::kCpu,
                                        .chat_template = chat_template})
                              .value();
    const RunningServer server({}, engine);
    Json body = chat("Who?");
    body["messages"].push_back({{"role", "assistant"}, {"content", "I."}, {"reasoning_content", "Hm."}});
    body["messages"].push_back({{"role", "user"}, {"content", "You?"}});
    EXPECT_EQ(server.post(kChat, body).status, 200);
    return server.post("/apply-template", body).json["prompt"];
  };
  EXPECT_EQ(prompt_with(kTemplate), "<user>Who?\n<assistant>I.\n<user>You?\n<assistant>");
  EXPECT_EQ(prompt_with("{% for m in messages %}{{ m.reasoning_content }}|{{ m.content }} {% endfor %}"),
            "|Who? Hm.|I. |You? ");
}

TEST(ApiServer, WhatIsKeptOfPromptsHasABound) {
  const auto n_cached_with = [](int64_t bytes) {
    const Engine engine = load_stories();
    const RunningServer server({.scheduler = {.max_kept_bytes = bytes}}, engine);
    std::string prompt = "Once upon a time";
    for (int i = 0; i < 60; ++i) prompt += " there was a big red dog";
    server.post(kText, completion(prompt, 2));
    return server.post(kText, completion(prompt, 2)).json["usage"]["prompt_tokens_details"]["cached_tokens"].get<int>();
  };
  EXPECT_EQ(n_cached_with(0), 0);
  EXPECT_GT(n_cached_with(int64_t{64} << 20), 200);
  EXPECT_GT(n_cached_with(-1), 200);
}

TEST(ApiServer, SeveralChoicesHaveSeedsOfTheirOwn) {
  const RunningServer server;
  Json body = completion("Once upon a time");
  body["temperature"] = 0.8;
  body["seed"] = 42;
  body["n"] = 3;
  const Json answer = server.post(kText, body).json;
  ASSERT_EQ(answer["choices"].size(), 3u);
  for (uint64_t i = 0; i < 3; ++i) {
    const auto expected =
        alone("Once upon a time", {.max_tokens = 16, .sample = {.temperature = 0.8f, .seed = 42 + i}});
    EXPECT_EQ(answer["choices"][i]["index"], i);
    EXPECT_EQ(answer["choices"][i]["text"], expected.text);
  }
  EXPECT_EQ(answer["usage"]["completion_tokens"], 48);
  std::vector<std::string> streamed(3);
  for (const Json& event : server.stream(kText, body)) {
    const Json& choice = event["choices"][0];
    streamed[choice["index"].get<size_t>()] += choice["text"];
  }
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(Json(streamed[i]), answer["choices"][i]["text"]);
}

TEST(ApiServer, StopsAndBiases) {
  const RunningServer server;
  const std::string text = server.post(kText, completion("Once upon a time", 40)).json["choices"][0]["text"];
  const size_t at = text.find(" was");
  ASSERT_NE(at, text.npos);
  Json body = completion("Once upon a time", 40);
  body["stop"] = " was";
  const Json stopped = server.post(kText, body).json["choices"][0];
  EXPECT_EQ(stopped["text"], text.substr(0, at));
  EXPECT_EQ(stopped["finish_reason"], "stop");
  body.erase("stop");
  const TokenId first = stories().tokenizer().encode(text, {.add_bos = false}).front();
  body["logit_bias"] = {{std::to_string(first), -100}};
  EXPECT_NE(server.post(kText, body).json["choices"][0]["text"], text);
}

TEST(ApiServer, LogprobsOfChatsAndCompletions) {
  const RunningServer server;
  Json body = chat("Once upon a time", 5);
  body["logprobs"] = true;
  body["top_logprobs"] = 3;
  const auto expected = alone("Once upon a time", {.max_tokens = 5, .sample = {.temperature = 0.0f}, .n_logprobs = 3});
  const Json whole = server.post(kChat, body).json["choices"][0]["logprobs"]["content"];
  Json streamed = Json::array();
  for (const Json& event : server.stream(kChat, body)) {
    const Json& logprobs = event["choices"][0]["logprobs"];
    if (!logprobs.is_null()) streamed.insert(streamed.end(), logprobs["content"].begin(), logprobs["content"].end());
  }
  EXPECT_EQ(whole, streamed);
  ASSERT_EQ(whole.size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(whole[i]["token"], std::string(stories().tokenizer().piece(expected.tokens[i])));
    EXPECT_NEAR(whole[i]["logprob"].get<double>(), expected.logprobs[i].chosen, 1e-5);
    ASSERT_EQ(whole[i]["top_logprobs"].size(), 3u);
    EXPECT_EQ(whole[i]["top_logprobs"][0]["token"], whole[i]["token"]);
  }
  body = completion("Once upon a time", 5);
  body["logprobs"] = 2;
  const Json lists = server.post(kText, body).json["choices"][0]["logprobs"];
  EXPECT_EQ(lists["tokens"].size(), 5u);
  EXPECT_EQ(lists["token_logprobs"][4], whole[4]["logprob"]);
  EXPECT_EQ(lists["top_logprobs"][0].size(), 2u);
  EXPECT_EQ(lists["text_offset"][1], lists["tokens"][0].get<std::string>().size());
}

// Many requests, greedy and seeded, short and long, streamed and whole.
TEST(ApiServer, AnswersDoNotDependOnWhoElseAsks) {
#ifdef __SANITIZE_THREAD__
  constexpr int kAskers = 6;  // ten times as slow, and what is looked for shows with fewer
#else
  constexpr int kAskers = 32;
#endif
  std::vector<Json> bodies;
  std::vector<std::string> expected;
  for (int i = 0; i < kAskers; ++i) {
    std::string prompt = "Once upon a time there was a ";
    for (int word = 0; word < i * 6; ++word) prompt += word % 2 == 0 ? "big " : "red ";
    GenerateOptions options{.max_tokens = 4 + i, .sample = {.temperature = i % 2 == 0 ? 0.0f : 0.9f}};
    options.sample.seed = static_cast<uint64_t>(i);
    expected.push_back(alone(prompt, options).text);
    bodies.push_back(completion(prompt, options.max_tokens));
    bodies.back()["temperature"] = i % 2 == 0 ? 0.0 : 0.9;
    bodies.back()["seed"] = i;
  }
  const RunningServer server({.scheduler = {.n_ctx = 512, .max_replies = kAskers, .max_stall_ms = 5}});
  std::vector<std::string> got(kAskers);
  std::vector<std::jthread> askers;
  for (size_t i = 0; i < kAskers; ++i) {
    askers.emplace_back([&, i] {
      if (i % 3 == 0) {
        got[i] = server.post(kText, bodies[i]).json["choices"][0]["text"];
      } else {
        for (const Json& event : server.stream(kText, bodies[i])) got[i] += event["choices"][0]["text"];
      }
    });
  }
  askers.clear();
  EXPECT_EQ(got, expected);
}

TEST(ApiServer, ATurnOfAConversationFindsTheEarlierOnes) {
  const RunningServer server;
  std::string prompt = "Once upon a time";
  for (int i = 0; i < 60; ++i) prompt += " there was a big red dog";
  const Json first = server.post(kText, completion(prompt, 4)).json;
  EXPECT_EQ(first["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
  const Json second = server.post(kText, completion(prompt + first["choices"][0]["text"].get<std::string>(), 4)).json;
  const int n_prompt = second["usage"]["prompt_tokens"];
  EXPECT_GT(second["usage"]["prompt_tokens_details"]["cached_tokens"], n_prompt - 64 - 8);
}

struct Refusal {
  std::string path, body;
  int status;
  std::string param, words;
};

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
      {kChat, "{" + hi + R"(, "logit_bias": {"x": 1}})", 400, "logit_bias.x", "no token"},
      {kChat, "{" + hi + R"(, "logit_bias": {"1": 101}})", 400, "logit_bias.1", "to 100"},
      {kChat, "{" + hi + R"(, "top_logprobs": 2})", 400, "top_logprobs", "logprobs"},
      {kChat, "{" + hi + R"(, "logprobs": true, "top_logprobs": 21})", 400, "top_logprobs", "to 20"},
      {kText, "{}", 400, "prompt", "missing"},
      {kText, R"({"prompt": {}})", 400, "prompt", "string"},
      {kText, R"({"prompt": []})", 400, "prompt", "empty"},
      {kText, R"({"prompt": [999999]})", 400, "prompt", "999999"},
      {kText, R"({"prompt": [-1]})", 400, "prompt", "-1"},
      {kText, R"({"prompt": ["a", []]})", 400, "prompt[1]", "empty"},
      {kText, R"({"prompt": ["a", 7]})", 400, "prompt[1]", "string"},
      {kText, R"({"prompt": [[1], [999999]]})", 400, "prompt[1]", "999999"},
      {kText, R"({"prompt": "a", "suffix": "b"})", 400, "suffix", "not supported"},
      {kText, R"({"prompt": "a", "best_of": 3})", 400, "best_of", "not supported"},
      {kText, many, 400, "stop", "10001"},
      {kText, book, 400, "prompt", "context holds 512"},
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
  EXPECT_EQ(server.post(kText, completion("Once")).status, 200);  // it still serves
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
  body["n"] = 2;
  EXPECT_EQ(server.post(kText, body).status, 200);
  body["n"] = 3;  // more than may ever wait
  const auto answer = server.post(kText, body);
  EXPECT_EQ(answer.status, 429);
  EXPECT_TRUE(answer.headers.contains("Retry-After"));
  EXPECT_EQ(answer.json["error"]["code"], "queue_full");
}

TEST(ApiServer, WhoGoesAwayCostsNothingMore) {
  const RunningServer server({.scheduler = {.max_replies = 4}, .metrics = true, .slots = true});
  for (const bool stream : {true, false}) {
    Json body = completion("Once upon a time", 100'000);
    body["ignore_eos"] = true;
    body["stream"] = stream;
    std::vector<std::unique_ptr<httplib::Client>> clients;
    std::vector<std::jthread> askers;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(server.client());
      askers.emplace_back([&, client = clients.back().get()] { client->Post(kText, body.dump(), "application/json"); });
    }
    EXPECT_TRUE(soon([&] { return n_running(server) > 0; }));
    for (const auto& client : clients) client->stop();
    askers.clear();
    EXPECT_TRUE(soon([&] { return n_running(server) == 0; })) << stream;
  }
  EXPECT_EQ(server.post(kText, completion("Once")).status, 200);
  EXPECT_TRUE(server.get("/metrics").text.contains("tern_replies_ended_total{reason=\"cancelled\"}"));
}

TEST(ApiServer, AResponseInItems) {
  const RunningServer server;
  const Json text = server.post(kChat, chat("Once upon a time")).json["choices"][0]["message"]["content"];
  Json body = {{"input", "Once upon a time"}, {"max_output_tokens", 16}, {"temperature", 0}};
  const Json whole = server.post("/v1/responses", body).json;
  EXPECT_EQ(whole["status"], "incomplete");
  EXPECT_EQ(whole["incomplete_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(whole["output"][0]["content"][0]["text"], text);
  EXPECT_EQ(whole["usage"]["output_tokens"], 16);
  body["stream"] = true;
  const std::string stream = server.post("/v1/responses", body).text;
  std::string deltas, types;
  for (size_t at = 0; at < stream.size();) {
    const size_t end = stream.find("\n\n", at);
    const std::string event = stream.substr(at, end - at);
    at = end + 2;
    const size_t line = event.find("\ndata: ");
    ASSERT_TRUE(event.starts_with("event: ") && line != event.npos) << event;
    const Json data = Json::parse(event.substr(line + 7));
    const std::string type = data["type"];
    EXPECT_EQ(event.substr(7, line - 7), type);
    if (type == "response.output_text.delta") {
      deltas += data["delta"];
    } else {
      types += type.substr(8) + " ";
    }
  }
  EXPECT_EQ(Json(deltas), text);
  EXPECT_EQ(types,
            ".created .in_progress .output_item.added .content_part.added .output_text.done .content_part.done "
            ".output_item.done .incomplete ");
  const std::vector<Refusal> refusals = {
      {"", R"({})", 400, "input", "missing"},
      {"", R"({"input": []})", 400, "input", "list"},
      {"", R"({"input": [{"type": "computer_call"}]})", 400, "input[0].type", "computer_call"},
      {"", R"({"input": "a", "previous_response_id": "resp_1"})", 400, "previous_response_id", "whole conversation"},
      {"", R"({"input": "a", "tools": [{"type": "web_search"}]})", 400, "tools[0].type", "web_search"},
      {"", R"({"input": "a", "max_output_tokens": 0})", 400, "max_output_tokens", "from 1"},
  };
  for (const Refusal& refusal : refusals) {
    const auto answer = server.post("/v1/responses", refusal.body);
    EXPECT_EQ(answer.status, refusal.status) << refusal.body;
    EXPECT_EQ(answer.json["error"]["param"], refusal.param) << answer.text;
    EXPECT_TRUE(answer.json["error"]["message"].get<std::string>().contains(refusal.words)) << answer.text;
  }
}

TEST(ApiServer, RepliesAreHeldToAFormat) {
  const RunningServer server;
  const Json schema = Json::parse(R"({"type": "object", "properties": {"name": {"type": "string", "maxLength": 12},
      "age": {"type": "integer", "minimum": 3, "maximum": 9}}, "required": ["name", "age"],
      "additionalProperties": false})");
  Json body = chat("Once upon a time", 200);
  const auto check = [&](const Json& answer) {
    ASSERT_TRUE(answer.contains("choices")) << answer;
    const Json value = Json::parse(answer["choices"][0]["message"]["content"].get<std::string>());
    EXPECT_LE(value["name"].get<std::string>().size(), 4 * 12u);
    EXPECT_GE(value["age"], 3);
    EXPECT_LE(value["age"], 9);
    EXPECT_EQ(answer["choices"][0]["finish_reason"], "stop");
  };
  body["response_format"] = {{"type", "json_schema"}, {"json_schema", {{"name", "person"}, {"schema", schema}}}};
  check(server.post(kChat, body).json);
  body.erase("response_format");
  body["json_schema"] = schema;  // llama.cpp's
  check(server.post(kChat, body).json);
  body.erase("json_schema");
  body["response_format"] = {{"type", "json_object"}};
  EXPECT_TRUE(server.post(kChat, body).json["choices"][0]["message"]["content"].get<std::string>().starts_with("{"));
  body.erase("response_format");
  body["grammar"] = R"(root ::= "yes" | "no")";
  const Json word = server.post(kChat, body).json["choices"][0]["message"]["content"];
  EXPECT_TRUE(word == "yes" || word == "no") << word;
  const Json response =
      server
          .post("/v1/responses",
                Json{{"input", "Once upon a time"},
                     {"text", {{"format", {{"type", "json_schema"}, {"name", "person"}, {"schema", schema}}}}}})
          .json;
  EXPECT_TRUE(Json::accept(response["output"][0]["content"][0]["text"].get<std::string>())) << response;
}

TEST(ApiServer, FormatsThatCannotBeHeldAreRefused) {
  const RunningServer server;
  const std::string hi = R"("messages": [{"role": "user", "content": "hi"}], )";
  const std::vector<Refusal> refusals = {
      {"", R"("response_format": {"type": "xml"})", 400, "response_format.type", "xml"},
      {"", R"("response_format": {"type": "json_schema"})", 400, "response_format.json_schema", "missing"},
      {"", R"("response_format": {"type": "json_schema", "json_schema": {}})", 400,
       "response_format.json_schema.schema", "missing"},
      {"", R"("response_format": {"type": "json_schema", "json_schema": {"schema": {"unevaluatedItems": false}}})", 400,
       "response_format.json_schema.schema", "unevaluatedItems"},
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

TEST(ApiServer, CallsOfTools) {
  static const Engine engine = Engine::load({.model_path = TERN_SOURCE_DIR "/models/tern-stories.gguf",
                                             .backend = BackendKind::kCpu,
                                             .chat_template = kToolTemplate})
                                   .value();
  const RunningServer server({}, engine);
  Json body = chat("Weather?", 200);
  body["tools"] = Json::parse(R"([{"type": "function", "function": {"name": "weather", "parameters": {"type": "object",
      "properties": {"city": {"enum": ["Rome", "Oslo"]}}, "required": ["city"], "additionalProperties": false}}}])");
  body["tool_choice"] = "required";
  const Json answer = server.post(kChat, body).json;
  ASSERT_TRUE(answer.contains("choices")) << answer;
  const Json& choice = answer["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "tool_calls") << answer;
  EXPECT_TRUE(choice["message"]["content"].is_null());
  const Json call = choice["message"]["tool_calls"][0];
  EXPECT_EQ(call["function"]["name"], "weather");
  const Json arguments = Json::parse(call["function"]["arguments"].get<std::string>());
  EXPECT_TRUE(arguments["city"] == "Rome" || arguments["city"] == "Oslo");
  std::string name, streamed;
  Json reason;
  for (const Json& event : server.stream(kChat, body)) {
    const Json& part = event["choices"][0];
    if (!part["finish_reason"].is_null()) reason = part["finish_reason"];
    if (!part["delta"].contains("tool_calls")) continue;
    name += part["delta"]["tool_calls"][0]["function"].value("name", "");
    streamed += part["delta"]["tool_calls"][0]["function"].value("arguments", "");
  }
  EXPECT_EQ(name, "weather");
  EXPECT_EQ(Json(streamed), call["function"]["arguments"]);
  EXPECT_EQ(reason, "tool_calls");

  // The call and its result go back to the model.
  body["tool_choice"] = "none";
  body["messages"].push_back(choice["message"]);
  body["messages"].push_back({{"role", "tool"}, {"tool_call_id", call["id"]}, {"content", "Sunny"}});
  const std::string prompt = server.post("/apply-template", body).json["prompt"];
  EXPECT_TRUE(prompt.contains("<tool_call>\n{\"name\": \"weather\"")) << prompt;
  EXPECT_TRUE(prompt.contains("<tool>Sunny")) << prompt;
  body["tool_choice"] = {{"type", "function"}, {"function", {{"name", "other"}}}};
  EXPECT_EQ(server.post(kChat, body).json["error"]["param"], "tool_choice");

  const Json response =
      server
          .post("/v1/responses",
                Json{{"input", "Weather?"},
                     {"tool_choice", "required"},
                     {"tools", Json::array({{{"type", "function"},
                                             {"name", "weather"},
                                             {"parameters", body["tools"][0]["function"]["parameters"]}}})}})
          .json;
  EXPECT_EQ(response["output"][0]["type"], "function_call") << response;
  EXPECT_EQ(response["output"][0]["name"], "weather");
}

TEST(ApiServer, TooMuchTime) {
  const RunningServer server({.most_time = std::chrono::seconds(1)});
  Json body = completion("Once upon a time", 100'000);
  body["ignore_eos"] = true;
  body["n"] = 64;  // which takes longer than that anywhere
  const auto answer = server.post(kText, body);
  EXPECT_EQ(answer.status, 504);
  EXPECT_EQ(answer.json["error"]["code"], "timeout");
}

TEST(ApiServer, WhatRunsEndsBeforeTheServerDoes) {
  RunningServer server({.slots = true});
  Json body = completion("Once upon a time", 300);
  body["ignore_eos"] = true;
  RunningServer::Answer answer;
  std::jthread asker([&] { answer = server.post(kText, body); });
  ASSERT_TRUE(soon([&] { return n_running(server) > 0; }));
  server.request_stop();
  EXPECT_TRUE(soon([&] { return server.get("/ready").status == 503 || server.get("/ready").status == 0; }));
  asker.join();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.json["usage"]["completion_tokens"], 300);
}

// A joule a look.
class Counter final : public EnergyReader {
 public:
  Result<double> joules() override { return ++n_; }
  std::string source() const override { return "a test"; }

 private:
  double n_ = 0;
};

TEST(ApiServer, AStepsEnergyIsSharedByItsReplies) {
  Counter counter;
  const RunningServer server({.energy = &counter, .metrics = true});
  Json body = completion("Once upon a time", 12);
  body["ignore_eos"] = true;
  const double alone = server.post(kText, body).json["usage"]["joules"];
  EXPECT_GE(alone, 12);
  EXPECT_LE(alone, 15);
  body["n"] = 4;
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  const double of_four = server.stream(kText, body).back()["usage"]["joules"];
  EXPECT_GE(of_four, 12);
  EXPECT_LE(of_four, 20);  // and not four times as much
  const double response =
      server.post("/v1/responses", Json{{"input", "Once"}, {"max_output_tokens", 3}}).json["usage"]["joules"];
  const std::string metrics = server.get("/metrics").text;
  const std::string name = "\ntern_energy_joules_total ";
  ASSERT_TRUE(metrics.contains(name)) << metrics;
  EXPECT_NEAR(std::stod(metrics.substr(metrics.find(name) + name.size())), alone + of_four + response, 2);
  const RunningServer other({.metrics = true});
  EXPECT_FALSE(other.get("/metrics").text.contains("joules"));
  body = completion("Once", 2);
  EXPECT_FALSE(other.post(kText, body).json["usage"].contains("joules"));
}

// Every metric in the queries of packaging/grafana.json.
TEST(ApiServer, TheDashboardAsksForWhatIsPrinted) {
  Counter counter;
  const RunningServer server({.energy = &counter, .metrics = true});
  server.post(kText, completion("Once", 2));
  std::set<std::string> printed;
  std::istringstream lines(server.get("/metrics").text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) printed.insert(line.substr(0, line.find_first_of("{ ")));
  }
  std::ifstream file(TERN_SOURCE_DIR "/packaging/grafana.json");
  const Json dashboard = Json::parse(file);
  std::string queries = dashboard["templating"]["list"][1]["query"].get<std::string>() + " ";
  for (const Json& panel : dashboard["panels"]) {
    for (const Json& target : panel["targets"]) queries += target["expr"].get<std::string>() + " ";
  }
  std::set<std::string> asked;
  for (size_t at = queries.find("tern_"); at != queries.npos; at = queries.find("tern_", at)) {
    const size_t end = queries.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at);
    asked.insert(queries.substr(at, end - at));
    at = end;
  }
  EXPECT_GT(asked.size(), 15u);
  for (const std::string& name : asked) EXPECT_TRUE(printed.contains(name)) << name;
}

TEST(ApiServer, ManyConnectionsThatSayNothing) {
  RunningServer server;
  std::vector<std::unique_ptr<httplib::Client>> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(server.client());
    idle.back()->set_keep_alive(true);
    ASSERT_TRUE(idle.back()->Get("/health"));
  }
  EXPECT_EQ(server.post(kText, completion("Once")).status, 200);
  const auto start = std::chrono::steady_clock::now();
  server.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(ApiServer, TokensAndWhatTheServerIs) {
  const RunningServer server({.metrics = true, .slots = true});
  const Json tokens = server.post("/tokenize", Json{{"content", "Once upon a time"}}).json["tokens"];
  EXPECT_EQ(tokens, Json(stories().tokenizer().encode("Once upon a time", {.add_bos = false})));
  EXPECT_EQ(server.post("/detokenize", Json{{"tokens", tokens}}).json["content"], "Once upon a time");
  const Json models = server.get("/v1/models").json;
  EXPECT_EQ(models["data"][0]["id"], "stories");
  EXPECT_EQ(server.get("/v1/models/Tern%20Stories").json["id"], "stories");
  EXPECT_EQ(server.get("/props").json["default_generation_settings"]["n_ctx"], 512);
  EXPECT_EQ(server.get("/slots").json.size(), 64u);
  EXPECT_EQ(server.get("/ready").json["status"], "ready");
  server.post(kText, completion("Once", 5));
  const std::string metrics = server.get("/metrics").text;
  for (const char* line : {"tern_generated_tokens_total 5\n", "tern_time_to_first_token_seconds_count 1\n",
                           "tern_time_between_tokens_seconds_count 4\n", "tern_replies_running 0\n",
                           "tern_replies_ended_total{reason=\"max_tokens\"} 1\n",
                           "tern_http_answers_total{route=\"/v1/completions\",status=\"200\"} 1\n"}) {
    EXPECT_TRUE(metrics.contains(line)) << line << metrics;
  }
}

std::vector<float> from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int n_bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = (bits << 6) | static_cast<unsigned>(digits.find(c));
    if ((n_bits += 6) < 8) continue;
    n_bits -= 8;
    bytes += static_cast<char>((bits >> n_bits) & 255);
  }
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

TEST(ApiServer, Vectors) {
  static const Engine engine =
      Engine::load(
          {.model_path = TERN_SOURCE_DIR "/models/tern-stories.gguf", .backend = BackendKind::kCpu, .embeddings = true})
          .value();
  const RunningServer server({}, engine);
  Session session = engine.new_session().value();
  const std::vector<float> expected = session.embed(engine.tokenizer().encode("a dog")).value();
  const Json answer = server.post("/v1/embeddings", Json{{"input", {"a cat", "a dog"}}}).json;
  ASSERT_EQ(answer["data"].size(), 2u) << answer;
  EXPECT_EQ(answer["data"][1]["index"], 1);
  const std::vector<float> values = answer["data"][1]["embedding"];
  EXPECT_EQ(values, expected);
  const Json packed =
      server.post("/v1/embeddings", Json{{"input", "a dog"}, {"encoding_format", "base64"}}).json["data"][0];
  EXPECT_EQ(from_base64(packed["embedding"]), expected);
  EXPECT_EQ(server.post(kText, completion("Once")).status, 501);
  EXPECT_EQ(server.post("/v1/embeddings", Json{{"input", ""}}).json["error"]["param"], "input[0]");
  EXPECT_EQ(server.post("/v1/embeddings", Json{{"input", "a"}, {"dimensions", 7}}).json["error"]["param"],
            "dimensions");
}

}  // namespace
}  // namespace tern::server::test
