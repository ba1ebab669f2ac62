// llama.cpp's /completion, which continues a text, and /infill, which fills a gap in one.
#pragma once

#include "server/api/replies/answer.h"
#include "server/api/replies/completions.h"

namespace tern::server::llama {

ApiResult<Asked> read_completion(const Json& body, const ModelProfile& model, const Client& client);
ApiResult<Asked> read_infill(const Json& body, const ModelProfile& model, const Client& client);

}  // namespace tern::server::llama
