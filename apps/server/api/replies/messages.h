// Reads the messages of a conversation from a request's JSON.
#pragma once

#include <vector>

#include "server/api/fields.h"
#include "tern/chat.h"

namespace tern::server {

// Reads roles, contents (texts or lists of parts), tool calls and their results. Errors call `list` by `name`.
ApiResult<std::vector<ChatMessage>> read_messages(const Json* list, const std::string& name);

}  // namespace tern::server
