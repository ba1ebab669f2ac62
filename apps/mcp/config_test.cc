#include "mcp/config.h"

#include <gtest/gtest.h>

namespace tern::mcp {
namespace {

std::optional<std::string> variable(const std::string& name) {
  if (name == "HOME") return "/home/a";
  return name == "KEY" ? std::optional<std::string>("secret") : std::nullopt;
}

std::vector<ServerConfig> read(std::string_view text) {
  Result<std::vector<ServerConfig>> servers = parse_config(text, "mcp.json", variable);
  EXPECT_TRUE(servers) << servers.error().message;
  return servers.value_or(std::vector<ServerConfig>());
}

std::string error_of(std::string_view text) {
  const auto servers = parse_config(text, "mcp.json", variable);
  if (servers) return "";
  EXPECT_EQ(servers.error().code, ErrorCode::kInvalidArgument);
  return servers.error().message;
}

std::string error_of_server(const std::string& members) {
  return error_of(R"({"mcpServers": {"s": {)" + members + "}}}");
}

TEST(McpConfig, AProgramAndAnAddress) {
  const auto servers = read(R"({"mcpServers": {
    "files": {"command": "npx", "args": ["-y", "${HOME}/x", "${env:KEY}"], "env": {"A": "${NONE:-b}c"}, "cwd": "/tmp",
              "autoApprove": ["read"], "alwaysAllow": ["list"], "disabledTools": ["write"], "timeout": 5},
    "web": {"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${KEY}"},
            "startupTimeout": 7}}})");
  ASSERT_EQ(servers.size(), 2u);
  EXPECT_EQ(servers[0].name, "files");
  EXPECT_EQ(servers[0].command, "npx");
  EXPECT_EQ(servers[0].args, (std::vector<std::string>{"-y", "/home/a/x", "secret"}));
  EXPECT_EQ(servers[0].env, (NamedValues{{"A", "bc"}}));
  EXPECT_EQ(servers[0].cwd, "/tmp");
  EXPECT_EQ(servers[0].allowed, (std::vector<std::string>{"list", "read"}));
  EXPECT_EQ(servers[0].hidden, (std::vector<std::string>{"write"}));
  EXPECT_EQ(servers[0].call_timeout.count(), 5);
  EXPECT_EQ(servers[1].url, "https://example.org/mcp");
  EXPECT_EQ(servers[1].headers, (NamedValues{{"Authorization", "Bearer secret"}}));
  EXPECT_EQ(servers[1].start_timeout.count(), 7);
}

TEST(McpConfig, FormsOfOtherPrograms) {
  EXPECT_EQ(read(R"({"servers": {"a": {"type": "stdio", "command": "x"}}, "inputs": []})").size(), 1u);
  EXPECT_EQ(read(R"({"mcp": {"servers": {"a": {"command": "x"}}}})").size(), 1u);
  EXPECT_EQ(
      read("{\"mcpServers\": { // a comment\n\"a\": {\"serverUrl\": \"http://x/\"}}, \"globalShortcut\": \"\"}").size(),
      1u);
}

TEST(McpConfig, ADisabledServerIsLeftOutAndNeedsNoVariables) {
  const auto servers = read(
      R"({"mcpServers": {"a": {"command": "${NONE}", "disabled": true}, "b": {"command": "x", "disabled": false}}})");
  ASSERT_EQ(servers.size(), 1u);
  EXPECT_EQ(servers[0].name, "b");
}

TEST(McpConfig, SaysWhatIsWrong) {
  EXPECT_EQ(error_of("{"), "mcp.json: not valid JSON, at byte 2");
  EXPECT_EQ(error_of("[]"), "mcp.json: is not a JSON object with \"mcpServers\"");
  EXPECT_EQ(error_of("{}"), "mcp.json: has no \"mcpServers\"");
  EXPECT_EQ(error_of(R"({"mcpServers": {}})"), "mcp.json: names no server that is not disabled");
  EXPECT_EQ(error_of(R"({"mcpServers": {}, "servers": {}})"), "mcp.json: has both \"mcpServers\" and \"servers\"");
  EXPECT_EQ(error_of(R"({"mcpServers": {}, "mcpservers": {}})"), "mcp.json: Tern does not know the key 'mcpservers'");
  EXPECT_EQ(error_of(R"({"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}})"),
            "mcp.json: 'a' is there twice in one object");
  EXPECT_EQ(error_of(R"({"mcpServers": {"a": 5}})"), "mcp.json: server 'a': is not an object");
}

TEST(McpConfig, SaysWhatIsWrongWithAServer) {
  const std::string where = "mcp.json: server 's': ";
  EXPECT_EQ(error_of_server(R"("comand": "x")"), where + "Tern does not know the key 'comand'");
  EXPECT_EQ(error_of_server(R"("args": [])"), where + "has neither \"command\" nor \"url\"");
  EXPECT_EQ(error_of_server(R"("command": "x", "url": "http://x")"), where + "has both \"command\" and \"url\"");
  EXPECT_EQ(error_of_server(R"("command": 7)"), where + "\"command\": is not a text");
  EXPECT_EQ(error_of_server(R"("command": "x", "args": "y")"), where + "\"args\": is not a list of texts");
  EXPECT_EQ(error_of_server(R"("command": "x", "env": {"A=B": "y"})"), where + "\"env\": 'A=B' cannot be used");
  EXPECT_EQ(error_of_server(R"("url": "http://x", "headers": {"A": "b\r\nC: d"})"),
            where + "\"headers\": 'A' cannot be used");
  EXPECT_EQ(error_of_server(R"("command": "${NONE}")"),
            where + "\"command\": the environment variable 'NONE' is not set");
  EXPECT_EQ(error_of_server(R"("command": "${KEY")"), where + "\"command\": '${' has no '}'");
  EXPECT_EQ(
      error_of_server(R"("command": "x", "args": ["${input:key}"])"),
      where + "\"args\": '${input:key}' asks for a value, which Tern does not; use an environment variable, ${NAME}");
  EXPECT_EQ(error_of_server(R"("type": "sse", "url": "http://x")"),
            where +
                "\"type\": \"sse\" is the older transport, which Tern does not speak; if the server has the newer one "
                "too, write \"http\" and its address");
  EXPECT_EQ(error_of_server(R"("type": "http", "command": "x")"), where + "is of type \"http\", but has \"command\"");
  EXPECT_EQ(error_of_server(R"("type": "pipe", "command": "x")"),
            where + "\"type\": 'pipe' is neither \"stdio\" nor \"http\"");
  EXPECT_EQ(error_of_server(R"("url": "ftp://x")"), where + "\"url\": does not begin with http:// or https://");
  EXPECT_EQ(error_of_server(R"("url": "http://x", "args": ["y"])"),
            where + "has \"url\", with which \"args\", \"env\" and \"cwd\" have no effect");
  EXPECT_EQ(error_of_server(R"("command": "x", "headers": {"A": "b"})"), where + "has \"headers\" without \"url\"");
  EXPECT_EQ(error_of_server(R"("command": "x", "timeout": 600000)"),
            where + "\"timeout\": is not a number of seconds from 1 to 3600");
  EXPECT_EQ(error_of_server(R"("command": "x", "disabled": "no")"), where + "\"disabled\": is neither true nor false");
}

}  // namespace
}  // namespace tern::mcp
