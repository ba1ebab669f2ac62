// Calls of tools that the server makes itself.
#include "server/api/api_test_support.h"

namespace tern::server::test {
namespace {

using std::chrono::seconds;

class ApiMcp : public testing::Test {
 protected:
  // A server whose model calls the tool of a scripted MCP server; `words` are for that.
  void start(const std::string& words, std::vector<std::string> allowed, bool always = false) {
    const mcp::ServerConfig config{.name = "fake", .command = build_path("bin/fake_mcp_server"), .args = {words}};
    auto opened = mcp::ToolSet::open({config}, {.allowed = std::move(allowed)});
    ASSERT_TRUE(opened) << opened.error().message;
    tools_ = *std::move(opened);
    ApiOptions options;
    options.slots = true;
    options.mcp = {.set = tools_.get(), .always = always, .rounds = 2, .on_problem = [this](const std::string& line) {
                     const std::lock_guard lock(mutex_);
                     problems_ += line + "\n";
                   }};
    server_ = std::make_unique<RunningServer>(options, storyteller());
  }
  std::string problems() {
    const std::lock_guard lock(mutex_);
    return problems_;
  }
  static Json asked(int max_tokens = 300) {
    Json body = chat("Once upon a time", max_tokens);
    body["mcp"] = true;
    body["parallel_tool_calls"] = false;  // the model would write on after its call
    return body;
  }

  std::unique_ptr<mcp::ToolSet> tools_;
  std::mutex mutex_;
  std::string problems_;
  std::unique_ptr<RunningServer> server_;
};

TEST_F(ApiMcp, CallsThatAreAllowedAreMadeBetweenTheReplies) {
  start("one", {"all"});
  const Json answer = server_->post(kChat, asked()).json;
  ASSERT_TRUE(answer.contains("choices")) << answer;
  const Json& choice = answer["choices"][0];
  EXPECT_FALSE(choice["message"].contains("tool_calls")) << answer;
  EXPECT_NE(choice["finish_reason"], "tool_calls");
  EXPECT_FALSE(choice["message"]["content"].get<std::string>().contains("there was")) << answer;
  // The second prompt has the first, the call, and the result.
  const int one = server_->post(kChat, chat("Once upon a time", 1)).json["usage"]["prompt_tokens"];
  EXPECT_GT(answer["usage"]["prompt_tokens"], 2 * one + 20);
  EXPECT_LE(answer["usage"]["completion_tokens"], 300);
  EXPECT_EQ(problems(), "");
}

TEST_F(ApiMcp, AStreamHasTheSameTextAndUsage) {
  start("one", {"fake"});
  Json body = asked();
  const Json whole = server_->post(kChat, body).json;
  body["stream_options"] = {{"include_usage", true}};
  std::string content;
  Json finish, usage;
  for (const Json& event : server_->stream(kChat, body)) {
    if (event["choices"].empty()) {
      usage = event["usage"];
      continue;
    }
    const Json& choice = event["choices"][0];
    EXPECT_FALSE(choice["delta"].contains("tool_calls")) << event;
    content += choice["delta"].value("content", "");
    if (!choice["finish_reason"].is_null()) {
      EXPECT_TRUE(finish.is_null()) << "the answer ends once";
      finish = choice["finish_reason"];
    }
  }
  EXPECT_EQ(Json(content), whole["choices"][0]["message"]["content"]);
  EXPECT_EQ(finish, whole["choices"][0]["finish_reason"]);
  EXPECT_EQ(usage["completion_tokens"], whole["usage"]["completion_tokens"]);
  EXPECT_EQ(usage["prompt_tokens"], whole["usage"]["prompt_tokens"]);
}

TEST_F(ApiMcp, OtherCallsAreTheClients) {
  start("one", {});
  const Json answer = server_->post(kChat, asked()).json;
  const Json& choice = answer["choices"][0];
  ASSERT_EQ(choice["finish_reason"], "tool_calls") << answer;
  EXPECT_EQ(choice["message"]["tool_calls"][0]["function"]["name"], "echo");
  std::string name, arguments;
  for (const Json& event : server_->stream(kChat, asked())) {
    for (const Json& call : event["choices"][0]["delta"].value("tool_calls", Json::array())) {
      name += call["function"].value("name", "");
      arguments += call["function"].value("arguments", "");
    }
  }
  EXPECT_EQ(name, "echo");
  EXPECT_TRUE(Json::accept(arguments)) << arguments;
}

TEST_F(ApiMcp, AForcedCallIsMadeAndThenTheModelIsFree) {
  start("one", {"echo"});
  Json body = asked();
  body["tool_choice"] = "required";
  const Json answer = server_->post(kChat, body).json;
  ASSERT_TRUE(answer.contains("choices")) << answer;
  EXPECT_NE(answer["choices"][0]["finish_reason"], "tool_calls") << answer;
  EXPECT_GT(answer["choices"][0]["message"]["content"].get<std::string>().size(), 10u) << answer;
}

TEST_F(ApiMcp, OnlyRequestsThatAskGetTheTools) {
  start("one", {"all"});
  Json body = chat("Once upon a time", 30);
  const Json plain = server_->post(kChat, body).json;
  body["mcp"] = false;
  EXPECT_EQ(server_->post(kChat, body).json["choices"], plain["choices"]);
  EXPECT_TRUE(plain["choices"][0]["message"]["content"].get<std::string>().contains("there was")) << plain;
  body["mcp"] = {"fake"};
  body["parallel_tool_calls"] = false;
  body["max_tokens"] = 300;
  EXPECT_FALSE(
      server_->post(kChat, body).json["choices"][0]["message"]["content"].get<std::string>().contains("there was"));
}

TEST_F(ApiMcp, OrAllThatHaveNoneIfTheServerSaysSo) {
  start("one", {"all"}, /*always=*/true);
  Json body = chat("Once upon a time", 300);
  body["parallel_tool_calls"] = false;
  EXPECT_FALSE(
      server_->post(kChat, body).json["choices"][0]["message"]["content"].get<std::string>().contains("there was"));
  body["mcp"] = false;
  EXPECT_TRUE(
      server_->post(kChat, body).json["choices"][0]["message"]["content"].get<std::string>().contains("there was"));
  body.erase("mcp");
  body["tools"] = Json::parse(R"([{"type": "function", "function": {"name": "own", "parameters": {"type": "object",
                                  "additionalProperties": false}}}])");
  EXPECT_EQ(server_->post(kChat, body).json["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "own");
}

TEST_F(ApiMcp, OtherApisHaveThemToo) {
  start("one", {"all"});
  Json body = asked();
  body["options"] = {{"temperature", 0}, {"num_predict", 300}};
  body["stream"] = false;
  const Json ollama = server_->post("/api/chat", body).json;
  ASSERT_TRUE(ollama.contains("message")) << ollama;
  EXPECT_FALSE(ollama["message"].contains("tool_calls")) << ollama;
  EXPECT_FALSE(ollama["message"]["content"].get<std::string>().contains("there was")) << ollama;
  Json asked_message = asked();
  asked_message["tool_choice"] = {{"type", "auto"}, {"disable_parallel_tool_use", true}};
  const Json message = server_->post("/v1/messages", asked_message).json;
  ASSERT_TRUE(message.contains("content")) << message;
  EXPECT_NE(message["stop_reason"], "tool_use");
  for (const Json& block : message["content"]) EXPECT_EQ(block["type"], "text") << message;
  const Json asked_response = {{"input", "Once upon a time"},
                               {"max_output_tokens", 300},
                               {"temperature", 0},
                               {"mcp", true},
                               {"parallel_tool_calls", false}};
  const Json response = server_->post("/v1/responses", asked_response).json;
  ASSERT_TRUE(response.contains("output")) << response;
  for (const Json& item : response["output"]) EXPECT_EQ(item["type"], "message") << response;
  EXPECT_EQ(response["usage"]["output_tokens"], ollama["eval_count"]);
}

TEST_F(ApiMcp, AServerThatDiesIsToldToTheModel) {
  start("one-die", {"all"});
  const Json answer = server_->post(kChat, asked()).json;
  ASSERT_TRUE(answer.contains("choices")) << answer;
  EXPECT_FALSE(answer["choices"][0]["message"].contains("tool_calls")) << answer;
  EXPECT_TRUE(problems().starts_with("the MCP server 'fake' has ended with exit code 3; it said: about to die\n"))
      << problems();
}

TEST_F(ApiMcp, ACallIsCancelledWhenTheClientGoes) {
  start("one-slow", {"all"});
  const auto client = server_->client();
  client->set_read_timeout(1);
  Json body = asked();
  body["stream"] = true;
  EXPECT_FALSE(client->Post(kChat, body.dump(), "application/json"));
  const auto begin = std::chrono::steady_clock::now();
  server_->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(10));
}

TEST_F(ApiMcp, SaysWhatIsWrong) {
  start("one", {"all"});
  const auto refused = [&](const char* field, Json value) {
    Json body = asked();
    body[field] = std::move(value);
    const auto answer = server_->post(kChat, body);
    EXPECT_EQ(answer.status, 400) << answer.json;
    return answer.json["error"]["message"].get<std::string>();
  };
  EXPECT_EQ(refused("mcp", 5), "mcp: is neither true, false nor a list");
  EXPECT_EQ(refused("mcp", Json::array({"none"})), "mcp: there is no MCP server 'none' with tools here");
  EXPECT_EQ(refused("n", 2), "mcp: is for one reply; n is more");
  EXPECT_EQ(refused("logprobs", true), "logprobs: is not for requests with tools of MCP servers");
  EXPECT_EQ(refused("tools", Json::parse(R"([{"type": "function", "function": {"name": "x"}}])")),
            "mcp: is for requests without tools of their own");
  const RunningServer without({}, storyteller());
  const auto none = without.post(kChat, asked());
  EXPECT_EQ(none.status, 400);
  EXPECT_EQ(none.json["error"]["message"], "mcp: there are no tools of MCP servers here; start the server with --mcp");
}

}  // namespace
}  // namespace tern::server::test
