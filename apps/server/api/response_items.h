// Items of /v1/responses as the messages and tools of a conversation, and the fields that an answer repeats.
#pragma once

#include <vector>

#include "server/api/conversation.h"
#include "server/api/fields.h"

namespace tern::server {

// `input`, a text or a list of items, after `instructions`.
ApiResult<std::vector<ChatMessage>> read_items(Fields& fields);

// `tools` in the form that chats have them, with a function within.
ApiResult<Json> tools_of_chats(Fields& fields);

}  // namespace tern::server
