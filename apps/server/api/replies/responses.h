// /v1/responses: the newer form of a conversation, with items.
#pragma once

#include "server/api/replies/answer.h"
#include "server/api/replies/completions.h"

namespace tern::server {

ApiResult<Asked> read_response(const Json& body, const ModelProfile& model, const Client& client);

// How long the prompt of the same request is, for POST /v1/responses/input_tokens.
ApiResult<Json> count_response_tokens(const Json& body, const ModelProfile& model, const Client& client);

}  // namespace tern::server
