// /v1/completions: a text goes on.
#pragma once

#include "server/api/answer.h"
#include "server/api/grammars.h"

namespace tern::server {

// What a model is called here, and what replies to it are like where a request does not say.
struct ModelProfile {
  const Engine& engine;
  std::string name;
  int n_ctx;
  ReplyDefaults defaults;
  GrammarCache& grammars;
};

ApiResult<Asked> read_completion(const Json& body, const ModelProfile& model);

// 400 with both numbers where the context does not hold it, or where it has no token.
ApiResult<void> check_prompt_length(size_t n_tokens, int n_ctx, const std::string& param);

}  // namespace tern::server
