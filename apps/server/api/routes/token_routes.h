// /tokenize, /detokenize, /apply-template, /tokenizer_info: texts as the model reads them, in the forms of llama.cpp's
// server and of vLLM's, which evaluation programs ask.
#pragma once

#include "server/api/replies/completions.h"

namespace tern::server {

// {"content", "add_special", "parse_special", "with_pieces"} → {"tokens"}; or as vLLM has it: {"prompt",
// "add_special_tokens", "return_token_strs"} or {"messages", …} → {"tokens", "count", "max_model_len", "token_strs"}
ApiResult<Json> tokenize(const Json& body, const ModelProfile& model);
// {"tokens"} → {"content", "prompt"}: the same text by both names
ApiResult<Json> detokenize(const Json& body, const ModelProfile& model);
// {"messages"} → {"prompt", "tokens"}: the text alone does not tell which control tokens are a message's text
ApiResult<Json> apply_template(const Json& body, const ModelProfile& model);
// → {"bos_token", "eos_token", "chat_template", "model_max_length"}; null for what the model does not have
ApiResult<Json> tokenizer_info(const ModelProfile& model);

}  // namespace tern::server
