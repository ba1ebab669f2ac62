// Headers that repeat parts of a request, which revision 2026-07-28 of the protocol wants over HTTP: the tool's name,
// and those of its arguments that its schema marks with "x-mcp-header".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.h"
#include "mcp/config.h"

namespace tern::mcp {

// A marked parameter: the names of the properties that lead to it, and that of its header.
struct MirroredParameter {
  std::vector<std::string> path;
  std::string header;
  bool operator==(const MirroredParameter&) const = default;
};

// kNotSupported: a mark that the protocol does not allow; such a tool must not be used over HTTP.
Result<std::vector<MirroredParameter>> mirrored_parameters(const Json& schema);

// "Mcp-Param-NAME" with the value, for each of them that the arguments have.
NamedValues mirrored_headers(const std::vector<MirroredParameter>& parameters, const Json& arguments);

// The text if a header can have it, else "=?base64?…?=".
std::string header_value(std::string_view text);

}  // namespace tern::mcp
