// /v1/completions: continues a text.
#pragma once

#include "server/api/grammars/grammars.h"
#include "server/api/replies/answer.h"
#include "server/api/service/mcp_tools.h"
#include "server/api/service/response_store.h"

namespace tern::server {

// Where a request comes from.
struct Client {
  std::string key = {};  // its API key, if keys are in use; what is kept for one is not there for another
};

// A model's name, and the defaults for replies to requests.
struct ModelProfile {
  const Engine& engine;
  std::string name;
  int n_ctx;
  ReplyDefaults defaults;
  GrammarCache& grammars;
  ResponseStore* responses = nullptr;  // null: nothing is kept
  McpTools mcp = {};
};

// The tokens of a prompt that no template renders. With `parse_special` the client may have rendered it: control tokens
// count, and a begin-of-sequence token that it begins with is not put first again.
std::vector<TokenId> encode_raw(const Tokenizer& tokenizer, std::string_view text, bool parse_special);

ApiResult<Asked> read_completion(const Json& body, const ModelProfile& model, const Client& client);

// 400 if the prompt is empty or exceeds the context; the message has both lengths.
ApiResult<void> check_prompt_length(size_t n_tokens, int n_ctx, const std::string& param);

}  // namespace tern::server
