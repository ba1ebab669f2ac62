// /v1/responses: the newer form of a conversation, with items.
#pragma once

#include "server/api/replies/answer.h"
#include "server/api/replies/completions.h"

namespace tern::server {

// 400 for options of servers that store responses: previous_response_id, background.
ApiResult<Asked> read_response(const Json& body, const ModelProfile& model);

}  // namespace tern::server
