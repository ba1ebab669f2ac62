// Reads the conversation and the tools in a request for /v1/messages.
#pragma once

#include <string>
#include <vector>

#include "server/api/fields.h"
#include "tern/chat_reply.h"

namespace tern::server::anthropic {

// Reads `system` and `messages`. A user's message becomes several if it has results of tools.
ApiResult<std::vector<ChatMessage>> read_message_list(Fields& fields);

// Reads `tools` and `tool_choice`.
ApiResult<ToolUse> read_message_tools(Fields& fields, const std::string& others);

}  // namespace tern::server::anthropic
