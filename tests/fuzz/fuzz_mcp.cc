// Any bytes as a file of MCP servers, as the result of a tool, and as names of tools: an error that says something, or
// values that keep their promises. The first byte selects.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "mcp/config.h"
#include "mcp/tool_names.h"
#include "mcp/tool_output.h"

namespace {

void require(bool is_so) {
  if (!is_so) std::abort();
}

void read_file(std::string_view text) {
  const auto servers =
      tern::mcp::parse_config(text, "f", [](const std::string& name) { return std::optional<std::string>(name); });
  if (!servers) {
    require(servers.error().code == tern::ErrorCode::kInvalidArgument && servers.error().message.starts_with("f: "));
    return;
  }
  require(!servers->empty());
  for (const tern::mcp::ServerConfig& server : *servers) {
    require(server.command.empty() != server.url.empty());
    for (const auto& [name, value] : server.headers) require(!name.contains('\n') && !value.contains('\n'));
  }
}

void read_result(std::string_view text) {
  const auto json = tern::parse_json(text, "result");
  if (json && json->is_object()) require(!tern::mcp::read_output(*json).text.empty());
}

void read_names(std::string_view text) {
  std::vector<tern::mcp::ToolId> ids;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    ids.emplace_back(std::string(text.substr(0, std::min<size_t>(end, 1))), std::string(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::set<std::string> all;
  for (const std::string& name : tern::mcp::names_for(ids)) {
    require(!name.empty() && name.size() <= 64 && all.insert(name).second);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'f') {
    read_file(text);
  } else if (data[0] == 'r') {
    read_result(text);
  } else {
    read_names(text);
  }
  return 0;
}
