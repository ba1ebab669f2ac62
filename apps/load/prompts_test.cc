#include "load/prompts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "load/endpoint.h"
#include "load/http.h"

namespace tern::load {
namespace {

using nlohmann::json;

json body_of(const Prompts& prompts, int64_t index, const RequestOptions& options = {}) {
  return json::parse(Conversation(prompts, options, index).body());
}

size_t words(const std::string& text) { return static_cast<size_t>(std::ranges::count(text, ' ')) + 1; }

TEST(Prompts, MadeTextIsSeededAndDistinct) {
  const Prompts prompts = Prompts::made({.tokens = 50, .seed = 3});
  std::set<std::string> texts;
  for (int64_t i = 0; i < 100; ++i) {
    const json body = body_of(prompts, i);
    ASSERT_EQ(body["messages"].size(), 1u);
    EXPECT_EQ(body["messages"][0]["role"], "user");
    const std::string text = body["messages"][0]["content"];
    EXPECT_EQ(words(text), 50u);
    texts.insert(text);
    EXPECT_EQ(body_of(Prompts::made({.tokens = 50, .seed = 3}), i), body);
  }
  EXPECT_EQ(texts.size(), 100u);
  EXPECT_NE(body_of(Prompts::made({.tokens = 50, .seed = 4}), 0), body_of(prompts, 0));
}

TEST(Prompts, SomeUsedInTurn) {
  const Prompts prompts = Prompts::made({.tokens = 20, .n_distinct = 3});
  for (int64_t i = 0; i < 9; ++i) {
    EXPECT_EQ(body_of(prompts, i) == body_of(prompts, 0), i % 3 == 0) << i;
    EXPECT_EQ(body_of(prompts, i), body_of(prompts, i % 3)) << i;
  }
}

TEST(Prompts, SharedPrefix) {
  const Prompts prompts = Prompts::made({.tokens = 30, .shared_tokens = 20});
  const json a = body_of(prompts, 0)["messages"], b = body_of(prompts, 1)["messages"];
  ASSERT_EQ(a.size(), 2u);
  EXPECT_EQ(a[0]["role"], "system");
  EXPECT_EQ(a[0], b[0]);
  EXPECT_EQ(words(a[0]["content"]), 20u);
  EXPECT_EQ(words(a[1]["content"]), 10u);
  EXPECT_NE(a[1], b[1]);
  const RequestOptions completions = {.api = Api::kCompletions};
  const std::string text = body_of(prompts, 0, completions)["prompt"];
  EXPECT_EQ(words(text), 30u);
  EXPECT_TRUE(text.starts_with(std::string(a[0]["content"]) + " "));
  EXPECT_EQ(body_of(Prompts::made({.tokens = 20, .shared_tokens = 20}), 0)["messages"].size(), 1u);
}

TEST(Prompts, BodyOfARequest) {
  const Prompts prompts = Prompts::made({.tokens = 5});
  const json body = body_of(prompts, 0, {.model = "m", .max_tokens = 9, .extra = R"({"ignore_eos": true})"});
  EXPECT_EQ(body["model"], "m");
  EXPECT_EQ(body["max_tokens"], 9);
  EXPECT_EQ(body["temperature"], 0);
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["stream_options"], (json{{"include_usage", true}}));
  EXPECT_EQ(body["ignore_eos"], true);
  EXPECT_EQ(body_of(prompts, 0, {.extra = R"({"temperature": 0.5})"})["temperature"], 0.5);
}

TEST(Prompts, ExtraMembers) {
  EXPECT_TRUE(check_extra("{}"));
  EXPECT_TRUE(check_extra(R"({"temperature": 0.5, "ignore_eos": true})"));
  for (const char* bad : {"", "x", "[]", "5", R"({"stream": false})", R"({"messages": []})", R"({"n": 2})"}) {
    const Result<void> checked = check_extra(bad);
    ASSERT_FALSE(checked) << bad;
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_TRUE(is_greedy({.extra = R"({"temperature": 0.0})"}));
  EXPECT_TRUE(is_greedy({.extra = "{}"}));
  EXPECT_FALSE(is_greedy({.extra = R"({"temperature": 0.1})"}));
  EXPECT_FALSE(is_greedy({.extra = R"({"temperature": null})"}));
}

TEST(Prompts, ConversationsGrow) {
  const Prompts prompts = Prompts::made({.tokens = 8});
  const RequestOptions options;
  Conversation conversation(prompts, options, 2);
  const json first = json::parse(conversation.body())["messages"];
  conversation.add_reply("the reply");
  EXPECT_EQ(conversation.turn(), 1);
  const json second = json::parse(conversation.body())["messages"];
  ASSERT_EQ(second.size(), 3u);
  EXPECT_EQ(second[0], first[0]);
  EXPECT_EQ(second[1], (json{{"role", "assistant"}, {"content", "the reply"}}));
  EXPECT_EQ(second[2]["role"], "user");
  EXPECT_EQ(words(second[2]["content"]), 8u);
  EXPECT_NE(second[2], second[0]);

  const RequestOptions completions = {.api = Api::kCompletions};
  Conversation text(prompts, completions, 2);
  const std::string before = json::parse(text.body())["prompt"];
  text.add_reply(" more");
  EXPECT_TRUE(std::string(json::parse(text.body())["prompt"]).starts_with(before + " more\n"));
}

TEST(Prompts, FromAFile) {
  constexpr std::string_view kLines =
      "{\"prompt\": \"one\"}\r\n\n"
      R"({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}], "max_tokens": 3})"
      "\n"
      R"({"custom_id": "x", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": [{"role": "user", "content": "three"}]}})";
  const Result<Prompts> prompts = Prompts::from_jsonl(kLines, "f.jsonl", Api::kChat);
  ASSERT_TRUE(prompts) << prompts.error().message;
  EXPECT_EQ(prompts->n_from_file(), 3u);
  EXPECT_EQ(body_of(*prompts, 0)["messages"][0]["content"], "one");
  EXPECT_EQ(body_of(*prompts, 1)["messages"].size(), 2u);
  EXPECT_EQ(body_of(*prompts, 1)["max_tokens"], 3);
  EXPECT_EQ(body_of(*prompts, 2)["messages"][0]["content"], "three");
  EXPECT_EQ(body_of(*prompts, 2)["max_tokens"], 128);
  EXPECT_EQ(body_of(*prompts, 3), body_of(*prompts, 0)) << "in turn";
}

TEST(Prompts, LinesThatAreNoPrompts) {
  for (const char* bad :
       {"x", "[]", "{}", R"({"prompt": 5})", R"({"messages": []})", R"({"messages": [{"role": "user"}]})",
        R"({"messages": [{"role": "user", "content": [{"type": "text"}]}]})",
        R"({"messages": [{"role": "user", "content": "x", "name": "y"}]})", R"({"prompt": "x", "max_tokens": 0})",
        R"({"prompt": "x", "max_tokens": "9"})", R"({"prompt": "x", "max_tokens": 99999999999})"}) {
    const Result<Prompts> prompts =
        Prompts::from_jsonl("{\"prompt\": \"fine\"}\n" + std::string(bad), "f.jsonl", Api::kChat);
    ASSERT_FALSE(prompts) << bad;
    EXPECT_EQ(prompts.error().code, ErrorCode::kCorruption);
    EXPECT_TRUE(prompts.error().message.starts_with("f.jsonl, line 2: ")) << prompts.error().message;
  }
  EXPECT_FALSE(Prompts::from_jsonl(R"({"messages": [{"role": "user", "content": "x"}]})", "f", Api::kCompletions));
  EXPECT_FALSE(Prompts::from_jsonl("\n \n", "f.jsonl", Api::kChat));
}

TEST(Endpoint, Parts) {
  const auto url = [](std::string_view text) {
    const Result<Endpoint> endpoint = parse_endpoint(text);
    return endpoint ? endpoint->url() : "refused";
  };
  EXPECT_EQ(url("http://127.0.0.1:8080"), "http://127.0.0.1:8080/v1");
  EXPECT_EQ(url("http://127.0.0.1:8080/"), "http://127.0.0.1:8080/v1");
  EXPECT_EQ(url("http://host/v1/"), "http://host:80/v1");
  EXPECT_EQ(url("http://host:1/a/b"), "http://host:1/a/b");
  EXPECT_EQ(url("http://[::1]:8080"), "http://[::1]:8080/v1");
  EXPECT_EQ(parse_endpoint("http://[::1]:8080")->host, "::1");
  EXPECT_EQ(url("https://host"), has_tls() ? "https://host:443/v1" : "refused");
  for (const char* bad :
       {"", "host", "host:8080", "ftp://host", "http://", "http://:80", "http://host:", "http://host:x",
        "http://host:0", "http://host:65536", "http://host:80x", "http://[::1", "http://[::1]x", "http://a b",
        "http://host/\r\nX: y", "http://u:p@host", "http://host/?q", "http://host#x"}) {
    const Result<Endpoint> endpoint = parse_endpoint(bad);
    ASSERT_FALSE(endpoint) << bad;
    EXPECT_EQ(endpoint.error().code, ErrorCode::kInvalidArgument) << bad;
    EXPECT_TRUE(endpoint.error().message.contains("http://127.0.0.1:8080")) << endpoint.error().message;
  }
}

}  // namespace
}  // namespace tern::load
