// Names of tools as models see them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tern::mcp {

// A tool's server and its name there.
using ToolId = std::pair<std::string, std::string>;

// A name of at most 64 letters, digits, '_' and '-' for each tool, all different. Where tools of two servers would have
// the same name, each gets its server's name in front.
std::vector<std::string> names_for(const std::vector<ToolId>& tools);

}  // namespace tern::mcp
