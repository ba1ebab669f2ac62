// `tern chat --mcp`: the default model with a template in which "there was", which it writes anyway after "Once upon a
// time", begins a call, and a scripted MCP server with one tool.
#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>

#include "end_to_end/run_program.h"
#include "end_to_end/terminal.h"
#include "support/checkout.h"

namespace tern::test {
namespace {

constexpr const char* kCallTemplate =
    "{% for t in tools or [] %}{{ t.function.name[:0] if t.function.name != 'tern_tool' else 'tern_tool' }}{% endfor %}"
    "{{ bos_token }}{% for m in messages %}{{ m.content or '' }}{% for c in m.tool_calls or [] %}there was"
    "{\"name\": {{ c.function.name | tojson }}, \"arguments\": {{ c.function.arguments | tojson }}}"
    "{% endfor %}{% endfor %}";

class McpChat : public testing::Test {
 protected:
  std::string config(const std::vector<std::string>& words,
                     const nlohmann::json& more = nlohmann::json::object()) const {
    nlohmann::json server = {{"command", build_path("bin/fake_mcp_server")}, {"args", words}};
    server.update(more);
    return folder_.write("mcp.json", nlohmann::json{{"mcpServers", {{"fake", server}}}}.dump());
  }
  std::vector<std::string> arguments(const std::string& config, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {
        "--template", folder_.write("calls.jinja", kCallTemplate), "-n", "80", "--mcp", config, "--mcp-rounds", "2"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  RunResult chat(const std::string& input, const std::string& config, const std::vector<std::string>& more = {},
                 const RunOptions& options = {}) const {
    std::vector<std::string> all = {"chat", "-m", default_model(), "--temp", "0"};
    for (std::string& each : arguments(config, more)) all.push_back(std::move(each));
    RunOptions with_input = options;
    with_input.input = input;
    return run_tern(all, with_input);
  }
  nlohmann::json saved() const { return nlohmann::json::parse(read_file(folder_.path("saved.json"))).at("messages"); }

  const ScratchFolder folder_;
  const std::string ask_and_save_ = std::string(kPrompt) + "\n/save " + folder_.path("saved.json") + "\n";
};

TEST_F(McpChat, ACallIsMadeAndTheModelGoesOn) {
  const std::string file = config({"one"});
  const RunResult result = chat(ask_and_save_, file, {"--mcp-allow", "echo"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.err.contains("(1 tool of MCP servers: fake (1); /tools lists them)")) << result.err;
  EXPECT_TRUE(result.err.contains("(fake: echo {\"text\"")) << result.err;
  EXPECT_TRUE(result.err.contains("(→ echo: {\"text\":")) << result.err;
  EXPECT_FALSE(result.out.contains("there was")) << result.out;
  const nlohmann::json messages = saved();
  ASSERT_GE(messages.size(), 4u) << messages;
  EXPECT_EQ(messages[1]["tool_calls"][0]["function"]["name"], "echo");
  EXPECT_EQ(messages[2]["role"], "tool");
  EXPECT_TRUE(messages[2]["content"].get<std::string>().starts_with("echo: {\"text\":")) << messages;
  EXPECT_EQ(messages[2]["tool_call_id"], messages[1]["tool_calls"][0]["id"]);
  EXPECT_EQ(messages.back()["role"], "assistant");
  const RunResult loaded = chat("/load " + folder_.path("saved.json") + "\n/tools\n", file);
  EXPECT_TRUE(loaded.err.contains("messages from")) << loaded.err;
  EXPECT_TRUE(loaded.err.contains("echo                    The tool echo\n")) << loaded.err;
}

TEST_F(McpChat, WithoutATerminalWhatIsNotAllowedIsRefused) {
  const RunResult result = chat(ask_and_save_, config({"one"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.err.contains("(not called; --mcp-allow echo allows it)")) << result.err;
  EXPECT_EQ(saved()[2]["content"], "error: the user has not allowed this tool");
  EXPECT_TRUE(chat(ask_and_save_, config({"one"}, {{"autoApprove", {"echo"}}})).err.contains("(→ echo: "));
}

TEST_F(McpChat, ASlowToolIsStoppedByCtrlC) {
  bool sent = false;
  const auto interrupt = [&](pid_t process, const std::string& err) {
    if (!sent && err.contains("(fake: slow")) sent = ::kill(process, SIGINT) == 0;
  };
  const auto begin = std::chrono::steady_clock::now();
  const RunResult result = chat(ask_and_save_, config({"one-slow"}), {"--mcp-allow", "all"}, {.on_errors = interrupt});
  EXPECT_TRUE(sent);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  EXPECT_TRUE(result.err.contains("(the MCP server 'fake' was told to stop)")) << result.err;
  EXPECT_EQ(saved().back()["content"], "(stopped by the user)");
}

TEST_F(McpChat, AServerThatDiesIsToldToTheModelAndTheUser) {
  const RunResult result = chat(ask_and_save_, config({"one-die"}), {"--mcp-allow", "all"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string why = "the MCP server 'fake' has ended with exit code 3; it said: about to die";
  EXPECT_TRUE(result.err.contains("(" + why + ")")) << result.err;
  EXPECT_EQ(saved()[2]["content"], "error: " + why);
}

TEST_F(McpChat, MistakesAreSaidInOneLine) {
  const std::string bad = folder_.write("bad.json", R"({"mcpServers": {"a": {"comand": "x"}}})");
  EXPECT_TRUE(failed_with(chat("", bad), 2, {"server 'a': Tern does not know the key 'comand'"}));
  EXPECT_TRUE(failed_with(chat("", folder_.path("none.json")), 1, {"none.json"}));
  EXPECT_EQ(run_tern({"chat", "--mcp-allow", "all"}).exit_code, 2);
  const RunResult unknown = chat("", config({"one"}), {"--mcp-allow", "echoo"});
  EXPECT_TRUE(failed_with(unknown, 2, {"there is no MCP tool or server 'echoo' to allow"}));
  const RunResult plain = run_tern({"chat", "-m", default_model(), "--mcp", config({"one"})});
  EXPECT_EQ(plain.exit_code, 1);
  EXPECT_TRUE(plain.err.contains("--mcp: the model's chat template has no tools")) << plain.err;
}

TEST_F(McpChat, AServerOfModelsCallsThemToo) {
  std::vector<std::string> all = {"serve", "-m", default_model(), "--port", "0", "--mcp-allow", "fake"};
  const std::string settings = folder_.write("serve.toml", "mcp = \"" + config({"one"}) + "\"\n");
  all.insert(all.end(), {"--template", folder_.write("calls.jinja", kCallTemplate), "--config", settings});
  nlohmann::json answer;
  bool asked = false;
  const RunResult result =
      run_tern(all, {.on_errors = [&](pid_t process, const std::string& err) {
                 const size_t at = err.find("at http://127.0.0.1:"), end = err.find("/v1 until", at);
                 if (asked || at == err.npos || end == err.npos) return;
                 asked = true;
                 httplib::Client client(err.substr(at + 3, end - at - 3));
                 client.set_read_timeout(60);
                 const nlohmann::json body = {{"messages", {{{"role", "user"}, {"content", kPrompt}}}},
                                              {"temperature", 0},
                                              {"max_tokens", 300},
                                              {"parallel_tool_calls", false},
                                              {"mcp", true}};
                 const auto got = client.Post("/v1/chat/completions", body.dump(), "application/json");
                 if (got) answer = nlohmann::json::parse(got->body, nullptr, false);
                 ::kill(process, SIGINT);
               }});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.err.contains("(1 tool of MCP servers: fake (1))")) << result.err;
  ASSERT_TRUE(answer.contains("choices")) << answer << result.err;
  EXPECT_FALSE(answer["choices"][0]["message"].contains("tool_calls")) << answer;
  EXPECT_GT(answer["usage"]["prompt_tokens"], 20) << answer;
}

class McpTerminal : public McpChat {
 protected:
  void SetUp() override {
    if (!terminal_.works()) GTEST_SKIP() << "there are no pseudo-terminals here";
    ASSERT_TRUE(terminal_.shows("/help lists the commands")) << terminal_.all();
    if (!terminal_.shows("\x1b[?2004h")) GTEST_SKIP() << "Tern was built without isocline";
    terminal_.type("Once upon a time\r");
    ASSERT_TRUE(terminal_.shows("call it? [y]es, [n]o, [a]lways for echo: ")) << terminal_.all();
  }
  void leave() {
    EXPECT_TRUE(terminal_.shows("\x1b[?2004h")) << terminal_.all();
    terminal_.type("\x04");
    EXPECT_EQ(terminal_.exit_code(), 0) << terminal_.all();
  }

  Terminal terminal_{folder_, arguments(config({"one"}))};
};

TEST_F(McpTerminal, YesCallsIt) {
  terminal_.type("what\ry\r");
  EXPECT_TRUE(terminal_.shows("→ echo: {\"text\":")) << terminal_.all();
  leave();
}

TEST_F(McpTerminal, NoDoesNotAndTheModelGoesOn) {
  terminal_.type("n\r");
  leave();
  EXPECT_FALSE(terminal_.all().contains("→")) << terminal_.all();
}

TEST_F(McpTerminal, AlwaysAsksNoMore) {
  terminal_.type("a\r");
  ASSERT_TRUE(terminal_.shows("→ echo: ")) << terminal_.all();
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h")) << terminal_.all();
  terminal_.type("/reset\r");
  ASSERT_TRUE(terminal_.shows("forgotten"));
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h")) << terminal_.all();
  terminal_.type("Once upon a time\r");
  EXPECT_TRUE(terminal_.shows("→ echo: ")) << terminal_.all();
  leave();
}

TEST_F(McpTerminal, CtrlCStopsTheTurn) {
  terminal_.type("\x03");
  leave();
  EXPECT_FALSE(terminal_.all().contains("→")) << terminal_.all();
}

}  // namespace
}  // namespace tern::test
