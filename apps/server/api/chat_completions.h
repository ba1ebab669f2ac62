// /v1/chat/completions: a conversation goes on.
#pragma once

#include "server/api/answer.h"
#include "server/api/completions.h"

namespace tern::server {

ApiResult<Asked> read_chat_completion(const Json& body, const ModelProfile& model);

// The text that the model reads, of a request's messages; /apply-template tells it.
ApiResult<std::string> chat_prompt(const Json& body, const ModelProfile& model);

}  // namespace tern::server
