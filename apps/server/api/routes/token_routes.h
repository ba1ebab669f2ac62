// /tokenize, /detokenize, /apply-template: texts as the model reads them, in the form of llama.cpp's server.
#pragma once

#include "server/api/replies/completions.h"

namespace tern::server {

// {"content", "add_special", "parse_special", "with_pieces"} → {"tokens"}
ApiResult<Json> tokenize(const Json& body, const ModelProfile& model);
// {"tokens"} → {"content"}
ApiResult<Json> detokenize(const Json& body, const ModelProfile& model);
// {"messages"} → {"prompt", "tokens"}: the text alone does not tell which control tokens are a message's text
ApiResult<Json> apply_template(const Json& body, const ModelProfile& model);

}  // namespace tern::server
