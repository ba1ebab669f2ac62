// Tools of a scripted server that is a program.
#include "mcp/tool_set.h"

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/checkout.h"

namespace tern::mcp {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

ServerConfig fake(std::vector<std::string> words = {}, std::string name = "fake") {
  return {.name = std::move(name),
          .command = build_path("bin/fake_mcp_server"),
          .args = std::move(words),
          .start_timeout = std::chrono::seconds(10),
          .call_timeout = std::chrono::seconds(10)};
}

class McpTools : public testing::Test {
 protected:
  Result<std::unique_ptr<ToolSet>> open(const std::vector<ServerConfig>& servers,
                                        std::vector<std::string> allowed = {}) {
    return ToolSet::open(servers, {.allowed = std::move(allowed),
                                   .on_note = [this](const std::string& line) { notes_ += line + "\n"; }});
  }
  std::unique_ptr<ToolSet> tools(const std::vector<ServerConfig>& servers = {fake()},
                                 std::vector<std::string> allowed = {}) {
    auto set = open(servers, std::move(allowed));
    EXPECT_TRUE(set) << set.error().message;
    return set ? *std::move(set) : nullptr;
  }
  std::string error_of(const ServerConfig& server) {
    const auto set = open({server});
    return set ? "" : set.error().message;
  }

  std::string notes_;
};

TEST_F(McpTools, AreListedAndCalled) {
  const auto set = tools();
  ASSERT_TRUE(set);
  const Json list = Json::parse(set->json());
  ASSERT_GE(list.size(), 2u);
  EXPECT_EQ(list[0]["type"], "function");
  EXPECT_EQ(list[0]["function"]["name"], "echo");
  EXPECT_EQ(list[0]["function"]["description"], "The tool echo");
  EXPECT_EQ(list[0]["function"]["parameters"]["type"], "object");
  const CallResult result = set->call("echo", R"({"text": "hello"})");
  EXPECT_EQ(result.text, R"(echo: {"text":"hello"})");
  EXPECT_FALSE(result.is_error);
  EXPECT_EQ(set->call("echo", "").text, "echo: {}");
  EXPECT_EQ(notes_, "");
}

TEST_F(McpTools, ResultsOfAllKindsBecomeText) {
  const auto set = tools();
  ASSERT_TRUE(set);
  EXPECT_EQ(set->call("picture", "{}").text,
            "look\n[image, image/png, 6 bytes]\n[resource file:///a, a]\n[resource file:///b]\ninside");
  EXPECT_EQ(set->call("structured", "{}").text, R"({"a":1})");
  const CallResult failed = set->call("fail", "{}");
  EXPECT_TRUE(failed.is_error);
  EXPECT_EQ(failed.text, "error: it failed");
  EXPECT_EQ(failed.problem, "");
  EXPECT_EQ(set->call("refuse", "{}").text, "error: the MCP server 'fake' refused: no such thing");
  EXPECT_EQ(set->call("nothing", "{}").text, "error: there is no tool 'nothing'");
  EXPECT_EQ(set->call("echo", "[]").text, "error: the arguments are no JSON object");
}

TEST_F(McpTools, TheServersQuestionsAreAnswered) {
  const auto set = tools();
  ASSERT_TRUE(set);
  EXPECT_EQ(set->call("ask", "{}").text, "0 -32601");
}

TEST_F(McpTools, AServerGetsItsVariablesAndNoKeysOfTern) {
  ::setenv("HF_TOKEN", "secret", 1);
  ServerConfig config = fake();
  config.env = {{"GIVEN", "value"}};
  const auto set = tools({config});
  ::unsetenv("HF_TOKEN");
  ASSERT_TRUE(set);
  EXPECT_EQ(set->call("variable", "{}").text, "value -");
}

TEST_F(McpTools, ListsComeInPagesAndChange) {
  const auto set = tools({fake({"pages"})});
  ASSERT_TRUE(set);
  const size_t n = set->tools().size();
  EXPECT_EQ(n, 11u);
  EXPECT_FALSE(set->refresh());
  for (const char* name : {"echo", "fail"}) set->allow(name);
  EXPECT_TRUE(set->is_allowed("fail"));
  set->call("grow", "{}");
  EXPECT_TRUE(set->refresh());
  EXPECT_EQ(set->tools().size(), n + 1);
  EXPECT_TRUE(set->is_allowed("echo"));
  EXPECT_FALSE(set->is_allowed("fail")) << "it describes itself otherwise now";
  EXPECT_FALSE(set->refresh());
}

TEST_F(McpTools, OddOnesAreLeftOutWithALine) {
  const auto set = tools({fake({"odd-tools"})});
  ASSERT_TRUE(set);
  std::string names;
  for (const Tool& tool : set->tools()) names += tool.name + " ";
  EXPECT_EQ(names, "a_b a_b_2 bare ");
  for (const char* why :
       {"name that is empty", "the tool 'a.b' is there twice", "a tool has no name",
        "'noschema' has an \"inputSchema\" that is no object", "'huge' has a description and parameters of more"}) {
    EXPECT_TRUE(notes_.contains(why)) << why << " is missing from\n" << notes_;
  }
}

TEST_F(McpTools, TwoServersAndOneThatDoesNotWork) {
  ServerConfig hides = fake({}, "two");
  hides.hidden = {"fail"};
  hides.allowed = {"slow"};
  const auto set = tools({fake({}, "one"), hides, fake({"die-at-once"}, "three")}, {"one"});
  ASSERT_TRUE(set);
  EXPECT_EQ(set->call("two_echo", "{}").text, "echo: {}");
  EXPECT_EQ(notes_, "the MCP server 'three' has ended with exit code 4; it said: no configuration\n");
  EXPECT_TRUE(set->is_allowed("one_echo"));
  EXPECT_TRUE(set->is_allowed("fail"));  // the other server's is hidden
  EXPECT_TRUE(set->is_allowed("two_slow"));
  EXPECT_FALSE(set->is_allowed("two_echo"));
  EXPECT_EQ(Json::parse(set->json({.servers = {"two"}, .allowed_only = true})).size(), 1u);
}

TEST_F(McpTools, WhatIsAllowedHasToExist) {
  const auto set = open({fake()}, {"echoo"});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().message, "there is no MCP tool or server 'echoo' to allow");
  EXPECT_TRUE(tools({fake()}, {"all"})->is_allowed("die"));
  const auto shared = open({fake({}, "one"), fake({}, "two")}, {"echo"});
  ASSERT_FALSE(shared) << "which of the two is meant?";
  const auto one = tools({fake({}, "one"), fake({}, "two")}, {"one_echo"});
  EXPECT_TRUE(one->is_allowed("one_echo"));
  EXPECT_FALSE(one->is_allowed("two_echo"));
  EXPECT_TRUE(tools({fake({"odd-tools"})}, {"a.b"})->is_allowed("a_b"));
}

TEST_F(McpTools, ADeadServerIsAnErrorResultAndStartsAgain) {
  const auto set = tools();
  ASSERT_TRUE(set);
  const CallResult result = set->call("die", "{}");
  EXPECT_TRUE(result.is_error);
  EXPECT_EQ(result.problem, "the MCP server 'fake' has ended with exit code 3; it said: about to die");
  EXPECT_EQ(result.text, "error: " + result.problem);
  EXPECT_EQ(set->call("echo", "{}").text, "echo: {}");
}

TEST_F(McpTools, ASlowCallTimesOutAndIsCancelled) {
  ServerConfig config = fake({"late"});
  config.call_timeout = std::chrono::seconds(1);
  const auto set = tools({config});
  ASSERT_TRUE(set);
  EXPECT_EQ(set->call("slow", "{}").problem, "the MCP server 'fake' did not answer within 1 s");
  EXPECT_EQ(set->call("cancelled", "{}").text, "1");  // and the late answer is not taken for this one
}

TEST_F(McpTools, ACallCanBeStopped) {
  const auto set = tools();
  ASSERT_TRUE(set);
  std::stop_source source;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    source.request_stop();
  });
  const auto begin = Clock::now();
  const CallResult result = set->call("slow", "{}", source.get_token());
  EXPECT_TRUE(result.is_stopped);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(set->call("cancelled", "{}").text, "1");
}

TEST_F(McpTools, SeveralThreadsCallAtOnce) {
  const auto set = tools();
  ASSERT_TRUE(set);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string text = std::to_string(t * 100 + i);
        EXPECT_EQ(set->call("echo", R"({"text":")" + text + "\"}").text, R"(echo: {"text":")" + text + "\"}");
      }
    });
  }
}

TEST_F(McpTools, ServersThatMisbehaveAreRefusedInTime) {
  const std::string who = "the MCP server 'fake' ";
  EXPECT_EQ(error_of(fake({"future"})),
            who + "speaks version '2099-01-01' of the protocol; Tern speaks 2024-11-05 to 2026-07-28");
  EXPECT_EQ(error_of(fake({"endless"})), who + "sends a list of tools that does not end");
  EXPECT_EQ(error_of(fake({"same-cursor"})), who + "sends a list of tools that does not end");
  EXPECT_EQ(error_of(fake({"long-line"})), who + "sent a message of more than 16 MiB");
  EXPECT_TRUE(error_of(fake({"flood"})).starts_with(who + "writes text that is no message to its standard output"));
  for (const char* word : {"mute", "wrong-ids", "deaf"}) {
    ServerConfig config = fake({word});
    config.start_timeout = std::chrono::seconds(1);
    EXPECT_EQ(error_of(config), who + "did not answer within 1 s") << word;
  }
}

TEST_F(McpTools, NoiseAndOldServersAreFine) {
  for (const char* word : {"junk", "deep", "old"}) {
    const auto set = tools({fake({word})});
    ASSERT_TRUE(set) << word;
    EXPECT_EQ(set->call("echo", "{}").text, "echo: {}") << word;
  }
}

TEST_F(McpTools, AServerWithoutHandshakesIsAskedWithoutOne) {
  const auto set = tools({fake({"stateless"})});
  ASSERT_TRUE(set);
  EXPECT_EQ(set->call("echo", R"({"text": "hello"})").text, R"(echo: {"text":"hello"})");
  EXPECT_EQ(set->call("needs-input", "{}").problem, "the MCP server 'fake' asks for input, which Tern does not give");
  EXPECT_EQ(error_of(fake({"refuses"})), "the MCP server 'fake' refused: nothing works here");
}

TEST_F(McpTools, WhatCannotBeStartedIsSaid) {
  ServerConfig config = fake();
  config.command = "tern-has-no-such-program";
  EXPECT_EQ(
      error_of(config),
      "the MCP server 'fake' cannot be started: there is no program 'tern-has-no-such-program' in the folders of PATH");
  config.command = "/nowhere/x";
  EXPECT_EQ(error_of(config), "the MCP server 'fake' cannot be started: '/nowhere/x': No such file or directory");
  config = fake();
  config.cwd = "/nowhere";
  EXPECT_EQ(error_of(config), "the MCP server 'fake' cannot be started in '/nowhere': No such file or directory");
}

TEST_F(McpTools, AServerThatDoesNotWantToEndIsKilled) {
  const auto begin = Clock::now();
  tools({fake({"stubborn"}, "a"), fake({"stubborn"}, "b")}).reset();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(9));  // both at the same time
}

}  // namespace
}  // namespace tern::mcp
