// /v1/chat/completions: continues a conversation.
#pragma once

#include "server/api/replies/answer.h"
#include "server/api/replies/completions.h"
#include "server/api/replies/conversation.h"

namespace tern::server {

ApiResult<Asked> read_chat_completion(const Json& body, const ModelProfile& model, const Client& client);

// The prompt for a request's messages, as the model reads it; /apply-template returns it.
ApiResult<ConversationPrompt> chat_prompt(const Json& body, const ModelProfile& model);

}  // namespace tern::server
