// /v1/messages: Anthropic's API for conversations.
#pragma once

#include "server/api/replies/answer.h"
#include "server/api/replies/completions.h"

namespace tern::server::anthropic {

ApiResult<Asked> read_message(const Json& body, const ModelProfile& model, const Client& client);

// {"input_tokens": …}: the length of the prompt for a request's conversation and tools.
ApiResult<Json> count_message_tokens(const Json& body, const ModelProfile& model);

}  // namespace tern::server::anthropic
