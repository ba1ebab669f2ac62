// Converts items of /v1/responses to the messages and tools of a conversation.
#pragma once

#include <vector>

#include "server/api/fields.h"
#include "server/api/replies/conversation.h"
#include "server/api/service/response_store.h"

namespace tern::server {

// `input`, a text or a list of items, as a list.
ApiResult<Json> input_items(const Fields& fields);

// Reads the items of `input`, after `instructions` and the items of earlier requests. `notes`: what was left out.
ApiResult<std::vector<ChatMessage>> read_items(Fields& fields, const Json& before, const Json& items, Json& notes);

// `tools` in the form of chat requests, with a function inside; `client` gets those that are more. Tools that run at
// OpenAI are left out, with a note.
ApiResult<Json> tools_of_chats(Fields& fields, const OtherTools& client, Json& notes);

// Puts the items that are kept here in the place of {"type": "item_reference", "id": …}. 400: one is not kept.
ApiResult<void> resolve_references(Json& items, ResponseStore& kept, const std::string& owner);

}  // namespace tern::server
