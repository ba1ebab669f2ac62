// llama.cpp's /completion and /infill.
#include "server/api/api_test_support.h"

namespace tern::server::test::llama {
namespace {

Json ask(const std::string& prompt, int n = 16) {
  return {{"prompt", prompt}, {"n_predict", n}, {"temperature", 0}, {"cache_prompt", true}};
}

TEST(LlamaCompletion, AWholeAnswer) {
  const RunningServer server;
  const Json other = server.post(kText, completion("Once upon a time")).json;
  const Json json = server.post("/completion", ask("Once upon a time")).json;
  EXPECT_EQ(json["content"], other["choices"][0]["text"]) << json;
  EXPECT_EQ(json["stop"], true);
  EXPECT_EQ(json["stop_type"], "limit");
  EXPECT_EQ(json["stopping_word"], "");
  EXPECT_EQ(json["tokens_predicted"], 16);
  EXPECT_EQ(json["tokens_evaluated"], other["usage"]["prompt_tokens"]);
  EXPECT_EQ(json["timings"]["predicted_n"], 16);
  EXPECT_EQ(json["tokens"], Json::array());
}

TEST(LlamaCompletion, TokensProbabilitiesAndAStopWord) {
  const RunningServer server;
  Json body = ask("Once upon a time", 40);
  body["stop"] = {"zebra", "there was"};
  body["return_tokens"] = true;
  body["n_probs"] = 2;
  const Json json = server.post("/completion", body).json;
  EXPECT_EQ(json["stop_type"], "word") << json;
  EXPECT_EQ(json["stopping_word"], "there was");
  EXPECT_EQ(json["tokens"].size(), json["tokens_predicted"]);
  ASSERT_EQ(json["completion_probabilities"].size(), json["tokens"].size());
  EXPECT_EQ(json["completion_probabilities"][0]["id"], json["tokens"][0]);
  EXPECT_EQ(json["completion_probabilities"][0]["top_logprobs"][0]["id"], json["tokens"][0]);  // greedy
  // The prompt as tokens, mixed with text.
  const Json ids = server.post("/tokenize", Json{{"content", "Once upon"}, {"add_special", true}}).json["tokens"];
  body["prompt"] = ids;
  body["prompt"].push_back(" a time");
  EXPECT_EQ(server.post("/completion", body).json["content"], json["content"]);
}

TEST(LlamaCompletion, AStreamEndsWithItsLastEvent) {
  const RunningServer server;
  const Json whole = server.post("/completion", ask("Once upon a time")).json;
  Json body = ask("Once upon a time");
  body["stream"] = true;
  const std::string text = server.post("/completion", body).text;
  std::string content;
  Json last;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find("\n\n", at);
    ASSERT_EQ(text.substr(at, 6), "data: ");
    last = Json::parse(text.substr(at + 6, end - at - 6));
    content += last["content"];
    EXPECT_EQ(last["stop"], end + 2 == text.size());
    at = end + 2;
  }
  EXPECT_EQ(Json(content), whole["content"]);
  EXPECT_EQ(last["stop_type"], "limit");
  EXPECT_EQ(last["tokens_predicted"], 16);
}

TEST(LlamaCompletion, AGrammarHoldsTheText) {
  const RunningServer server;
  Json body = ask("Once", 40);
  body["grammar"] = "root ::= \"yes\" | \"no\"";
  const Json json = server.post("/completion", body).json;
  EXPECT_TRUE(json["content"] == "yes" || json["content"] == "no") << json;
  EXPECT_EQ(json["stop_type"], "eos");
}

TEST(LlamaCompletion, WhatIsNotDoneIsRefused) {
  const RunningServer server;
  const auto check = [&](const std::string& path, const char* name, const Json& value) {
    Json body = ask("Once");
    body[name] = value;
    const auto answer = server.post(path, body);
    EXPECT_EQ(answer.status, 400) << answer.text;
    EXPECT_EQ(answer.json["error"]["param"], name);
  };
  check("/completion", "dynatemp_range", 0.5);
  check("/completion", "n", 2);
  check("/completion", "min_keep", 4);
  check("/completion", "post_sampling_probs", true);
  check("/completion", "lora", {{{"id", 0}}});
  check("/completion", "guided_regex", "a|b");
  check("/completion", "prompt", {"a", "b"});
  check("/completion", "prompt", {1, 999999});
  check("/completion", "n_probs", 21);
  check("/infill", "input_suffix", "}");  // the model has no tokens for it
  check(kText, "suffix", "}");
  Json body = ask("Once");
  body.update({{"mirostat", 0}, {"typical_p", 1.0}, {"top_n_sigma", -1.0}, {"dynatemp_range", 0}});
  EXPECT_EQ(server.post("/completion", body).status, 200);
}

}  // namespace
}  // namespace tern::server::test::llama
