// A tool call as JSON: {"name": …, "arguments": {…}}.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tern/chat.h"

namespace tern {

// True if a call may have a member with this name (in quotes): the format's names for its name, its arguments and its
// id, "id" or "type".
bool is_call_member(std::string_view quoted_name, const ToolCallFormat& format);

// Reads an object as a call, with the arguments as written. nullopt: it is not a call, or has members that calls lack.
std::optional<ToolCall> read_tool_call(std::string_view object, const ToolCallFormat& format);

// The value of a JSON string in quotes; nullopt: not a string, or not UTF-8.
std::optional<std::string> json_text(std::string_view quoted);

}  // namespace tern
