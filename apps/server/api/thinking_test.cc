// How much a model may think. The stories model thinks as long as the template opens a thought.
#include "server/api/api_test_support.h"

namespace tern::server::test {
namespace {

constexpr const char* kThinker =
    "{% for m in messages %}{{ m.content }}{% if m.role == 'assistant' and m.reasoning_content %}<think>"
    "{{ m.reasoning_content }}</think>{% endif %}{% endfor %}"
    "{% if enable_thinking is not defined or enable_thinking %}<think>{% else %}<think></think>{% endif %}";

const Engine& with_template(const char* chat_template) {
  static std::map<std::string, Engine> engines;
  const auto found = engines.find(chat_template);
  if (found != engines.end()) return found->second;
  Engine engine = Engine::load({.model_path = tern::test::plain_model(),
                                .backend = BackendKind::kCpu,
                                .n_threads = 2,
                                .chat_template = chat_template})
                      .value();
  return engines.emplace(chat_template, std::move(engine)).first->second;
}

Json asked(const Json& more) {
  Json body = chat("Once upon a time", 40);
  body["ignore_eos"] = true;
  body.update(more);
  return body;
}

struct Thought {
  int n_tokens;
  bool has_answer;
};
Thought thought(const RunningServer& server, const Json& more, const std::string& path = kChat) {
  const auto answer = server.post(path, asked(more));
  EXPECT_EQ(answer.status, 200) << answer.text;
  const Json& message = answer.json["choices"][0]["message"];
  return {answer.json["usage"]["completion_tokens_details"]["reasoning_tokens"],
          !message["content"].empty() && message["content"] != ""};
}

TEST(Thinking, ABudgetEndsTheThought) {
  const RunningServer server({}, with_template(kThinker));
  const Thought free = thought(server, Json::object());
  EXPECT_EQ(free.n_tokens, 40);
  EXPECT_FALSE(free.has_answer);
  for (const char* name : {"thinking_budget", "thinking_budget_tokens", "thinking_token_budget", "reasoning_budget"}) {
    const Thought cut = thought(server, {{name, 8}});
    EXPECT_GE(cut.n_tokens, 9) << name;  // the mark has some tokens in this vocabulary
    EXPECT_LE(cut.n_tokens, 8 + 8) << name;
    EXPECT_TRUE(cut.has_answer) << name;
  }
  const Thought by_effort = thought(server, {{"reasoning", {{"max_tokens", 8}, {"effort", "high"}}}});
  EXPECT_TRUE(by_effort.has_answer);
  EXPECT_TRUE(thought(server, {{"thinking", {{"type", "enabled"}, {"budget_tokens", 8}}}}).has_answer);
  EXPECT_FALSE(thought(server, {{"thinking_budget", -1}}).has_answer);
}

TEST(Thinking, EffortsAreTokensWhereTheTemplateHasNone) {
  const RunningServer server({}, with_template(kThinker));
  EXPECT_EQ(thought(server, {{"reasoning_effort", "none"}}).n_tokens, 0);
  EXPECT_TRUE(thought(server, {{"reasoning_effort", "none"}}).has_answer);
  EXPECT_EQ(thought(server, {{"thinking", {{"type", "disabled"}}}}).n_tokens, 0);
  EXPECT_EQ(thought(server, {{"enable_thinking", false}}).n_tokens, 0);
  EXPECT_EQ(thought(server, {{"reasoning_effort", "low"}}).n_tokens, 40);
  Json body = asked({{"reasoning_effort", "minimal"}, {"max_tokens", 300}});
  EXPECT_NE(server.post(kChat, body).json["choices"][0]["message"]["content"], "");
}

TEST(Thinking, TemplatesThatKnowEffortsAreTold) {
  const RunningServer server(
      {}, with_template("{{ reasoning_effort }}:{% for m in messages %}{{ m.content }}{% endfor %}"));
  const auto prompt = [&](const Json& more) {
    return server.post("/apply-template", asked(more)).json["prompt"].get<std::string>();
  };
  EXPECT_EQ(prompt({{"reasoning_effort", "medium"}}), "medium:Once upon a time");
  EXPECT_EQ(prompt({{"reasoning", {{"effort", "xhigh"}}}}), "high:Once upon a time");
  EXPECT_EQ(prompt({{"reasoning_effort", "minimal"}, {"chat_template_kwargs", {{"reasoning_effort", "own"}}}}),
            "own:Once upon a time");
}

TEST(Thinking, TheServersOwnBudget) {
  const RunningServer server({.thoughts = 4}, with_template(kThinker));
  EXPECT_TRUE(thought(server, Json::object()).has_answer);
  EXPECT_FALSE(thought(server, {{"thinking_budget", -1}}).has_answer);
}

TEST(Thinking, AFormHoldsTheAnswerOnly) {
  const RunningServer server({}, with_template(kThinker));
  const Json format = {{"type", "json_schema"},
                       {"json_schema", {{"name", "n"}, {"schema", {{"enum", {"yes", "no"}}}}}}};
  const auto answer = server.post(kChat, asked({{"response_format", format}, {"thinking_budget", 8}}));
  const Json& message = answer.json["choices"][0]["message"];
  EXPECT_TRUE(message["content"] == "\"yes\"" || message["content"] == "\"no\"") << answer.text;
  EXPECT_FALSE(message["reasoning_content"].get<std::string>().contains('"')) << answer.text;
}

TEST(Thinking, AStreamHasTheSame) {
  const RunningServer server({}, with_template(kThinker));
  Json body = asked({{"thinking_budget", 8}});
  const Json whole = server.post(kChat, body).json["choices"][0]["message"];
  body["stream"] = true;
  std::string thoughts, content;
  for (const Json& event : server.stream(kChat, body)) {
    if (event["choices"].empty()) continue;
    const Json& delta = event["choices"][0]["delta"];
    thoughts += delta.value("reasoning_content", "");
    content += delta.value("content", "");
  }
  EXPECT_EQ(whole["reasoning_content"], thoughts);
  EXPECT_EQ(whole["content"], content);
}

TEST(Thinking, WhatIsNoAmountIsRefused) {
  const RunningServer server({}, with_template(kThinker));
  const auto refused = [&](const Json& more, const std::string& words) {
    const auto answer = server.post(kChat, asked(more));
    EXPECT_EQ(answer.status, 400) << answer.text;
    EXPECT_TRUE(answer.text.contains(words)) << answer.text;
  };
  refused({{"reasoning_effort", "much"}}, "reasoning_effort: 'much'");
  refused({{"reasoning", {{"effort", 3}}}}, "reasoning.effort");
  refused({{"thinking_budget", -2}}, "thinking_budget");
  refused({{"thinking", {{"type", "on"}}}}, "thinking.type: 'on'");
}

}  // namespace
}  // namespace tern::server::test
