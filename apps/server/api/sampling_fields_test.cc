// Every field of sampling gives the text that the same option gives a session, on the routes of several APIs.
#include "server/api/api_test_support.h"

namespace tern::server::test::sampling {
namespace {

const std::string kPrompt = "Lily had a red ball. Lily had a red ball. Lily had a red";

struct Case {
  Json fields;
  SampleOptions sample;
  bool is_ollamas = false;
};

std::vector<Case> cases() {
  using Texts = std::vector<std::string>;
  return {
      {{{"dry_multiplier", 5}, {"dry_allowed_length", 1}}, {.dry_multiplier = 5, .dry_allowed_length = 1}},
      {{{"dry_multiplier", 5}, {"dry_base", 3}, {"dry_penalty_last_n", 20}, {"dry_sequence_breakers", {"zz", "."}}},
       {.dry_multiplier = 5, .dry_base = 3, .dry_penalty_last_n = 20, .dry_sequence_breakers = Texts{"zz", "."}}},
      {{{"dry_multiplier", 5}, {"dry_sequence_breakers", Json::array()}},
       {.dry_multiplier = 5, .dry_sequence_breakers = Texts{}}},
      {{{"xtc_probability", 1}, {"xtc_threshold", 0.02}}, {.xtc_probability = 1, .xtc_threshold = 0.02f}},
      {{{"top_n_sigma", 0.5}}, {.top_n_sigma = 0.5f}},
      {{{"typical_p", 0.3}}, {.typical_p = 0.3f}, true},
      {{{"typical", 0.3}}, {.typical_p = 0.3f}},
      {{{"mirostat", 1}, {"mirostat_tau", 2}, {"mirostat_eta", 0.3}},
       {.mirostat = 1, .mirostat_tau = 2, .mirostat_eta = 0.3f},
       true},
      {{{"mirostat", 2}, {"mirostat_tau", 0.5}}, {.mirostat = 2, .mirostat_tau = 0.5f}, true},
      {{{"samplers", {"top_k"}}, {"top_k", 1}, {"temperature", 9}},
       {.temperature = 9, .top_k = 1, .samplers = "top_k"}},
      {{{"samplers", {"temperature", "min_p"}}, {"min_p", 0.2}, {"temperature", 2.5}},
       {.temperature = 2.5f, .min_p = 0.2f, .samplers = "temperature;min_p"}},
      {{{"samplers", "temperature;min_p"}, {"min_p", 0.2}, {"temperature", 2.5}},
       {.temperature = 2.5f, .min_p = 0.2f, .samplers = "temperature;min_p"}},
  };
}

TEST(SamplingFields, AreWhatTheOptionsAre) {
  const RunningServer server;
  const std::string plain = alone(kPrompt, {.max_tokens = 24, .sample = {.temperature = 1, .seed = 7}}).text;
  for (const Case& each : cases()) {
    GenerateOptions options = {.max_tokens = 24, .sample = each.sample};
    options.sample.seed = 7;
    if (!options.sample.temperature) options.sample.temperature = 1;
    const std::string text = alone(kPrompt, options).text;
    EXPECT_NE(text, plain) << each.fields;
    Json body = {{"prompt", kPrompt}, {"max_tokens", 24}, {"temperature", 1}, {"seed", 7}};
    body.update(each.fields);
    EXPECT_EQ(server.post(kText, body).json["choices"][0]["text"], text) << each.fields;
    EXPECT_EQ(server.post("/completion", body).json["content"], text) << each.fields;
    Json chat_body = {{"messages", {{{"role", "user"}, {"content", kPrompt}}}}};
    chat_body.update(body);
    EXPECT_EQ(server.post(kChat, chat_body).json["choices"][0]["message"]["content"], text) << each.fields;
    if (!each.is_ollamas) continue;
    Json of_ollama = {{"prompt", kPrompt}, {"raw", true}, {"stream", false}};
    of_ollama["options"] = {{"num_predict", 24}, {"temperature", 1}, {"seed", 7}};
    of_ollama["options"].update(each.fields);
    EXPECT_EQ(server.post("/api/generate", of_ollama).json["response"], text) << each.fields;
  }
}

TEST(SamplingFields, RepliesToOnePromptHaveAStateOfTheirOwn) {
  const RunningServer server;
  Json body = {{"prompt", kPrompt}, {"max_tokens", 24}, {"temperature", 1}, {"seed", 7}, {"n", 3}, {"mirostat", 2}};
  const Json choices = server.post(kText, body).json["choices"];
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(choices[i]["text"],
              alone(kPrompt, {.max_tokens = 24, .sample = {.temperature = 1, .mirostat = 2, .seed = 7 + i}}).text);
  }
}

TEST(SamplingFields, WrongValuesAreRefusedByName) {
  const RunningServer server;
  const std::vector<std::tuple<const char*, Json, const char*>> wrong = {
      {"dry_multiplier", -1, "from 0"},
      {"dry_base", 0.5, "from 1"},
      {"dry_allowed_length", -1, "from 0"},
      {"dry_allowed_length", 1.5, "whole"},
      {"dry_penalty_last_n", -2, "from -1"},
      {"dry_sequence_breakers", 7, "list of strings"},
      {"dry_sequence_breakers", {""}, "1 to"},
      {"xtc_probability", 1.5, "from 0 to 1"},
      {"xtc_threshold", -0.5, "from 0 to 1"},
      {"top_n_sigma", "x", "a number"},
      {"typical_p", 1.5, "from 0 to 1"},
      {"typical_p", 0, "above 0"},
      {"typical", -1, "from 0 to 1"},
      {"mirostat", 3, "from 0 to 2"},
      {"mirostat_tau", -1, "from 0"},
      {"mirostat_eta", 2, "from 0 to 1"},
      {"samplers", {"top_k", "top_q"}, "'top_q', which is none of penalties, dry"},
      {"samplers", {"top_k", "top_k"}, "twice"},
      {"samplers", 5, "list of strings"},
      {"min_tokens", -1, "from 0"},
      {"min_tokens", 17, "above the maximum of 16"},
      {"logit_bias", 5, "an object"},
      {"logit_bias.a", Json::object({{"a", true}}), "or false"}};
  for (const auto& [name, value, words] : wrong) {
    for (const std::string& route : {kText, std::string("/completion")}) {
      Json body = completion("Once");
      body[std::string(name).substr(0, std::string(name).find('.'))] = value;
      const auto answer = server.post(route, body);
      EXPECT_EQ(answer.status, 400) << name << answer.text;
      EXPECT_EQ(answer.json["error"]["param"], name) << answer.text;
      EXPECT_TRUE(answer.json["error"]["message"].get<std::string>().contains(words)) << answer.text;
    }
  }
}

TEST(SamplingFields, ABiasIsForATokenOrATextInEveryForm) {
  const RunningServer server;
  const Tokenizer& tokenizer = stories().tokenizer();
  const std::string text = server.post(kText, completion("Once upon a time")).json["choices"][0]["text"];
  const std::vector<TokenId> tokens = tokenizer.encode(text, {.add_bos = false});
  const auto answer = [&](const Json& bias) {
    Json body = completion("Once upon a time");
    body["logit_bias"] = bias;
    const Json json = server.post(kText, body).json;
    EXPECT_EQ(server.post("/completion", body).json["content"], json["choices"][0]["text"]) << json;
    return json["choices"][0]["text"].get<std::string>();
  };
  const auto with = [&](std::vector<LogitBias> biases) {
    return alone("Once upon a time", {.max_tokens = 16, .sample = {.temperature = 0}, .logit_bias = std::move(biases)})
        .text;
  };
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  const TokenId first = tokens.front();
  const std::string without_first = with({{first, kNever}});
  EXPECT_NE(without_first, text);
  EXPECT_EQ(answer({{std::to_string(first), -100}}), without_first);
  EXPECT_EQ(answer({{std::to_string(first), false}}), without_first);
  EXPECT_EQ(answer(Json::array({{first, false}})), without_first);
  EXPECT_EQ(answer(Json::array({{first, -100}})), without_first);
  EXPECT_EQ(answer(Json::array({{first, 2}, {first, false}})), without_first);  // the last one counts
  EXPECT_EQ(answer({{std::to_string(first), -0.5}}), with({{first, -0.5f}}));
  const std::string word = " little girl";
  std::vector<LogitBias> of_word;
  for (const TokenId token : tokenizer.encode(word, {.add_bos = false})) of_word.push_back({token, 30});
  ASSERT_GT(of_word.size(), 1u);
  const std::string with_word = with(of_word);
  EXPECT_NE(with_word, text);
  EXPECT_EQ(answer({{word, 30}}), with_word);
  EXPECT_EQ(answer(Json::array({{word, 30}})), with_word);
}

TEST(SamplingFields, BiasesOfWhatIsNoTokenAreRefused) {
  const RunningServer server;
  const std::vector<std::pair<Json, const char*>> wrong = {{{{"999999", 1}}, "logit_bias.999999"},
                                                           {{{"-1", 1}}, "logit_bias.-1"},
                                                           {{{"1", 101}}, "logit_bias.1"},
                                                           {{{"", 1}}, "logit_bias."},
                                                           {Json::array({{999999, 1}}), "logit_bias[0]"},
                                                           {Json::array({{1, 1}, {-1, 1}}), "logit_bias[1]"},
                                                           {Json::array({{1, 1, 1}}), "logit_bias[0]"},
                                                           {Json::array({5}), "logit_bias[0]"},
                                                           {Json::array({{1.5, 1}}), "logit_bias[0]"},
                                                           {Json::array({{"a", "b"}}), "logit_bias[0]"}};
  for (const auto& [bias, param] : wrong) {
    Json body = completion("Once");
    body["logit_bias"] = bias;
    const auto answer = server.post(kText, body);
    EXPECT_EQ(answer.status, 400) << bias << answer.text;
    EXPECT_EQ(answer.json["error"]["param"], param) << answer.text;
  }
}

TEST(SamplingFields, AReplyHasItsLeastNumberOfTokens) {
  const RunningServer server;
  Json body = completion("Once upon a time", 40);
  body["stop"] = {" "};
  EXPECT_LT(server.post(kText, body).json["usage"]["completion_tokens"], 12);
  body["min_tokens"] = 12;
  for (const std::string& route : {kText, std::string("/completion")}) {
    const Json json = server.post(route, body).json;
    const Json& n = route == kText ? json["usage"]["completion_tokens"] : json["tokens_predicted"];
    EXPECT_GT(n, 12) << json;
    EXPECT_LT(n, 40) << json;
  }
}

}  // namespace
}  // namespace tern::server::test::sampling
