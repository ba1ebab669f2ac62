// Converts items of /v1/responses to the messages and tools of a conversation.
#pragma once

#include <vector>

#include "server/api/fields.h"
#include "server/api/replies/conversation.h"

namespace tern::server {

// Reads `input`, a text or a list of items, after `instructions`.
ApiResult<std::vector<ChatMessage>> read_items(Fields& fields);

// `tools` in the form of chat requests, with a function inside.
ApiResult<Json> tools_of_chats(Fields& fields);

}  // namespace tern::server
