// A chat model's reply as data: content, reasoning and tool calls.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tern/chat_reply.h"

namespace tern::cli {

// Parses `text`, the reply to `prompt`, and adds "content", "reasoning" (if there is any) and "tool_calls" as in
// OpenAI's API. `tools`: those that the prompt offered (ChatOptions::tools).
Result<void> add_reply_parts(nlohmann::ordered_json& json, const ChatFormat& format, std::string_view prompt,
                             std::string_view tools, std::string_view text);

}  // namespace tern::cli
