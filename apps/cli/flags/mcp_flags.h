// The options of `tern chat` and `tern serve` for tools of MCP servers.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/support/common.h"
#include "mcp/tool_set.h"

namespace tern::cli {

class McpFlags {
 public:
  // `allow_help` describes --mcp-allow.
  void add(CLI::App& app, const std::string& group, const std::string& allow_help);

  bool is_wanted() const { return !file_.empty(); }
  int rounds() const { return rounds_.value_or(10); }

  // Reads the file, so that a mistake is reported before a model is loaded.
  Result<void> read();

  // Starts the servers. Lines about them go to `on_note`. Null without --mcp.
  Result<std::unique_ptr<mcp::ToolSet>> open(std::function<void(const std::string& line)> on_note,
                                             std::stop_token stop) const;

 private:
  std::string file_;
  std::vector<std::string> allowed_;
  std::optional<int> rounds_;
  bool log_ = false;
  std::vector<mcp::ServerConfig> servers_;
};

// "14 tools of MCP servers: everything (13), files (1)"
std::string tools_in_a_line(const mcp::ToolSet& tools);

}  // namespace tern::cli
