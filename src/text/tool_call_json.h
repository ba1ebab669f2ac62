// One call as JSON: {"name": …, "arguments": {…}}.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tern/chat.h"

namespace tern {

// Whether a call may have a member of this name, with its quotes: "name", what the format calls the arguments, "id" and
// "type".
bool is_call_member(std::string_view quoted_name, const ToolCallFormat& format);

// The call that an object is, with the arguments as they are written; none where it is something else, or has members
// that a call has not.
std::optional<ToolCall> read_tool_call(std::string_view object, const ToolCallFormat& format);

// The value of a JSON text with its quotes; none: it is no text, or no UTF-8.
std::optional<std::string> json_text(std::string_view quoted);

}  // namespace tern
