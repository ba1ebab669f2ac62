// The messages of a conversation, out of a request's JSON.
#pragma once

#include <vector>

#include "server/api/fields.h"
#include "tern/chat.h"

namespace tern::server {

// `list`, which is called `name` in errors: roles, contents that are texts or lists of parts, calls and their results.
ApiResult<std::vector<ChatMessage>> read_messages(const Json* list, const std::string& name);

}  // namespace tern::server
