// A chat model's reply as data: what it says, what it thought, what it calls.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tern/chat_reply.h"

namespace tern::cli {

// Adds "content", "reasoning", if there is any, and "tool_calls", as in OpenAI's interface, of the reply `text` to
// `prompt`, which offered `tools` (ChatOptions::tools).
Result<void> add_reply_parts(nlohmann::ordered_json& json, const ChatFormat& format, std::string_view prompt,
                             std::string_view tools, std::string_view text);

}  // namespace tern::cli
