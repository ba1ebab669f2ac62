#include "cli/flags/mcp_flags.h"

#include <algorithm>

#include "cli/terminal/help.h"
#include "tern/tools.h"

namespace tern::cli {

void McpFlags::add(CLI::App& app, const std::string& group, const std::string& allow_help) {
  app.add_option("--mcp", file_,
                 "Let the model call tools of the MCP servers in this file, {\"mcpServers\": …}, as "
                 "Claude Desktop, Cursor and VS Code have it")
      ->type_name("FILE")
      ->check(not_empty())
      ->group(group);
  app.add_option("--mcp-allow", allowed_, allow_help)
      ->type_name("NAME")
      ->delimiter(',')
      ->check(not_empty())
      ->group(group);
  app.add_option("--mcp-rounds", rounds_, "Rounds of calls before an answer, at most (default 10)")
      ->type_name("N")
      ->check(in_range(1, 1000, /*whole=*/true))
      ->group(group);
  app.add_flag("--mcp-log", log_, "Print what MCP servers write to their standard error")->group(group);
}

Result<void> McpFlags::read() {
  if (file_.empty()) {
    if (allowed_.empty() && !rounds_ && !log_) return {};
    return fail(ErrorCode::kInvalidArgument, "--mcp-allow, --mcp-rounds and --mcp-log need --mcp");
  }
  TRY(const std::string text, read_text(file_));
  TRY(servers_, mcp::parse_config(text, file_, mcp::process_variable));
  return {};
}

Result<std::unique_ptr<mcp::ToolSet>> McpFlags::open(std::function<void(const std::string& line)> on_note,
                                                     std::stop_token stop) const {
  if (file_.empty()) return nullptr;
  mcp::ToolSetOptions options{.allowed = allowed_, .on_note = on_note};
  if (log_) options.on_log = on_note;
  return mcp::ToolSet::open(servers_, std::move(options), std::move(stop));
}

std::string tools_in_a_line(const mcp::ToolSet& tools) {
  std::vector<std::pair<std::string, int>> servers;
  const std::vector<mcp::Tool> all = tools.tools();
  for (const mcp::Tool& tool : all) {
    if (servers.empty() || servers.back().first != tool.server) servers.emplace_back(tool.server, 0);
    ++servers.back().second;
  }
  std::string text = format_text("{} tool{} of MCP servers", all.size(), all.size() == 1 ? "" : "s");
  std::string separator = ": ";
  for (const auto& [server, n] : servers) {
    text += format_text("{}{} ({})", separator, server, n);
    separator = ", ";
  }
  return text;
}

}  // namespace tern::cli
