// Converts items of /v1/responses to the messages and tools of a conversation.
#pragma once

#include <vector>

#include "server/api/fields.h"
#include "server/api/replies/conversation.h"

namespace tern::server {

// `input`, a text or a list of items, as a list.
ApiResult<Json> input_items(const Fields& fields);

// Reads the items of `input`, after `instructions` and the items of earlier requests.
ApiResult<std::vector<ChatMessage>> read_items(Fields& fields, const Json& before, const Json& items);

// `tools` in the form of chat requests, with a function inside. Tools that run at OpenAI are left out, with a note.
ApiResult<Json> tools_of_chats(Fields& fields, Json& notes);

}  // namespace tern::server
