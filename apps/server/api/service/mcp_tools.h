// The tools of MCP servers that a server offers to its models.
#pragma once

#include <functional>
#include <string>

#include "mcp/tool_set.h"

namespace tern::server {

struct McpTools {
  mcp::ToolSet* set = nullptr;  // must outlive the server; null: none
  bool always = false;          // also for chats that do not ask for them and have no tools of their own
  int rounds = 10;              // of calls before an answer, at most
  std::function<void(const std::string& line)> on_problem = nullptr;  // a call could not be made
};

}  // namespace tern::server
