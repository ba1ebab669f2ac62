#include "mcp/tool_names.h"

#include <algorithm>
#include <map>
#include <set>

namespace tern::mcp {
namespace {

constexpr size_t kLongest = 64;  // OpenAI's limit, which templates and clients expect

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::string plain(std::string_view name) {
  std::string out(name.substr(0, kLongest));
  std::ranges::replace_if(out, [](char c) { return !is_plain(c); }, '_');
  return out.empty() ? "tool" : out;
}

}  // namespace

std::vector<std::string> names_for(const std::vector<ToolId>& tools) {
  std::map<std::string, std::set<std::string>> servers_of;
  for (const auto& [server, name] : tools) servers_of[plain(name)].insert(server);
  std::vector<std::string> all;
  std::set<std::string> taken;
  for (const auto& [server, name] : tools) {
    const bool is_shared = servers_of[plain(name)].size() > 1;
    const std::string wanted = plain(is_shared ? server + "_" + name : name);
    std::string chosen = wanted;
    for (int i = 2; !taken.insert(chosen).second; ++i) {
      const std::string end = "_" + std::to_string(i);
      chosen = wanted.substr(0, kLongest - end.size()) + end;
    }
    all.push_back(std::move(chosen));
  }
  return all;
}

}  // namespace tern::mcp
