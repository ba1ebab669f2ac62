// The server as clients see it. Answers are compared with the output of a session of the same engine.

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

// The log probabilities of a prompt are those of a reply with the same text.
TEST(ApiServer, APromptIsScored) {
  const RunningServer server;
  const auto tokens_of = [&](const std::string& text) {
    return server.post("/tokenize", Json{{"content", text}, {"add_special", true}}).json["tokens"];
  };
  const Json prompt = tokens_of("Once upon a time");
  Json body = {{"prompt", prompt}, {"max_tokens", 40}, {"temperature", 0}, {"logprobs", 2}};
  const Json reply = server.post(kText, body).json["choices"][0];
  const std::string text = reply["text"];
  const Json whole = tokens_of("Once upon a time" + text);
  body["prompt"] = whole;
  body["max_tokens"] = 1;
  body["echo"] = true;
  for (const bool stream : {false, true}) {
    body["stream"] = stream;
    const Json choice =
        stream ? server.stream(kText, body)[1]["choices"][0] : server.post(kText, body).json["choices"][0];
    const Json& scores = choice["logprobs"];
    ASSERT_EQ(scores["tokens"].size(), whole.size() + 1) << choice;
    EXPECT_TRUE(scores["token_logprobs"][0].is_null());
    EXPECT_TRUE(scores["top_logprobs"][0].is_null());
    for (size_t i = 0; i + prompt.size() < whole.size(); ++i) {
      const Json& expected = reply["logprobs"];
      EXPECT_EQ(scores["tokens"][prompt.size() + i], expected["tokens"][i]) << i;
      EXPECT_NEAR(scores["token_logprobs"][prompt.size() + i], expected["token_logprobs"][i], 1e-3) << i;
    }
    EXPECT_EQ(scores["text_offset"][0], 0);
    EXPECT_EQ(scores["text_offset"].back(), 16 + text.size());
  }
  // What the cache has is read again; nothing is written.
  body["stream"] = false;
  body["max_tokens"] = 0;
  const Json read = server.post(kText, body).json;
  EXPECT_EQ(read["choices"][0]["logprobs"]["tokens"].size(), whole.size()) << read;
  EXPECT_EQ(read["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
}

// The cache has the prompt from the second request on.
TEST(ApiServer, AScoredPromptIsReadAgain) {
  const RunningServer server;
  Json body = completion("Once upon a time", 200);
  body["ignore_eos"] = true;
  const std::string text = "Once upon a time" + server.post(kText, body).json["choices"][0]["text"].get<std::string>();
  const Json whole = server.post("/tokenize", Json{{"content", text}, {"add_special", true}}).json["tokens"];
  ASSERT_GT(whole.size(), 150u);
  for (const size_t n : {size_t{1}, size_t{2}, size_t{64}, size_t{65}, size_t{128}, whole.size()}) {
    const Json prompt(Json::array_t(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n)));
    Json first;
    for (int i = 0; i < 3; ++i) {
      Json asked = {{"prompt", prompt}, {"max_tokens", 1}, {"temperature", 0},
                    {"logprobs", 1},    {"echo", true},    {"n", 2}};
      asked["ignore_eos"] = true;
      const Json choices = server.post(kText, asked).json["choices"];
      for (const Json& choice : choices) {
        ASSERT_EQ(choice["logprobs"]["tokens"].size(), n + 1) << choice;
        if (first.is_null()) first = choice["logprobs"];
        EXPECT_EQ(choice["logprobs"]["tokens"], first["tokens"]);
        for (size_t k = 1; k <= n; ++k) {
          EXPECT_NEAR(choice["logprobs"]["token_logprobs"][k], first["token_logprobs"][k], 1e-3);
        }
      }
    }
  }
}

TEST(ApiServer, TokensThatArePartsOfACharacterHaveNamesOfTheirOwn) {
  const RunningServer server;
  const std::string picture = "\xF0\x9F\x8E\x89";
  const Json body = {{"prompt", "a" + picture + " b"}, {"max_tokens", 0}, {"echo", true}, {"logprobs", 1}};
  const Json scores = server.post(kText, body).json["choices"][0]["logprobs"];
  std::string all;
  for (const Json& token : scores["tokens"]) all += token.get<std::string>() + "|";
  EXPECT_TRUE(all.contains("bytes:\\xf0|bytes:\\x9f|bytes:\\x8e|bytes:\\x89|")) << all;
  const Json pieces = server.post("/tokenize", Json{{"content", picture}, {"with_pieces", true}}).json["tokens"];
  EXPECT_EQ(pieces.back()["piece"], Json::array({0x89})) << pieces;
}

// Many requests at once: greedy and seeded, short and long, streamed and whole.
TEST(ApiServer, AnswersDoNotDependOnWhoElseAsks) {
#ifdef __SANITIZE_THREAD__
  constexpr int kAskers = 6;  // ten times as slow here, and fewer requests show the same errors
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

TEST(ApiServer, SeveralPromptsAreAnsweredAsEachAlone) {
  const RunningServer server;
  const std::vector<std::string> prompts = {"Once upon a time", "The dog", "Once upon a time there was"};
  Json body = completion("", 12);
  body["prompt"] = prompts;
  body["n"] = 2;
  body["temperature"] = 0.8;
  body["seed"] = 5;
  body["echo"] = true;
  const Json answer = server.post(kText, body).json;
  ASSERT_EQ(answer["choices"].size(), 6u) << answer;
  std::vector<std::string> streamed(6);
  for (const Json& event : server.stream(kText, body)) {
    const Json& choice = event["choices"][0];
    streamed[choice["index"].get<size_t>()] += choice["text"];
  }
  int n_prompt = 0;
  for (size_t i = 0; i < 6; ++i) {
    const std::string& prompt = prompts[i / 2];
    const auto expected = alone(prompt, {.max_tokens = 12, .sample = {.temperature = 0.8f, .seed = 5 + i % 2}});
    EXPECT_EQ(answer["choices"][i]["index"], i);
    EXPECT_EQ(answer["choices"][i]["text"], prompt + expected.text);
    EXPECT_EQ(streamed[i], prompt + expected.text);
    if (i % 2 == 0) n_prompt += expected.stats.n_prompt;
  }
  EXPECT_EQ(answer["usage"]["prompt_tokens"], n_prompt);
  EXPECT_EQ(answer["usage"]["completion_tokens"], 72);
  body["prompt"] = Json::array();
  for (int i = 0; i < 1025; ++i) body["prompt"].push_back("a");
  EXPECT_EQ(server.post(kText, body).json["error"]["param"], "prompt");
}

}  // namespace
}  // namespace tern::server::test
