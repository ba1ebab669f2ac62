// The file that names MCP servers, in the forms that Claude Desktop, Cursor and VS Code use:
// {"mcpServers": {"NAME": {"command": …, "args": …, "env": …, "cwd": …} or {"url": …, "headers": …}}}.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tern/error.h"

namespace tern::mcp {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

struct ServerConfig {
  std::string name;

  // A program that is started and spoken to through pipes; empty if there is a URL.
  std::string command = {};
  std::vector<std::string> args = {};
  NamedValues env = {};  // in addition to Tern's own environment
  std::string cwd = {};  // empty: Tern's own

  // A server that is reached over HTTP.
  std::string url = {};
  NamedValues headers = {};

  std::vector<std::string> allowed = {};  // tools that need no question ("*": all)
  std::vector<std::string> hidden = {};   // tools that are not offered
  std::chrono::seconds start_timeout{30};
  std::chrono::seconds call_timeout{120};
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// Reads the text of a file; `path` is for messages. Servers that are disabled are left out. kInvalidArgument: what is
// wrong, and where: keys that Tern does not know are refused unless they are known to change nothing.
Result<std::vector<ServerConfig>> parse_config(std::string_view text, const std::string& path,
                                               const Environment& environment);

// The variables of this process.
std::optional<std::string> process_variable(const std::string& name);

}  // namespace tern::mcp
