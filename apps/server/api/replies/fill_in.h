// Prompts that ask for the text between a beginning and an end, for models that were trained on such.
#pragma once

#include <string>
#include <vector>

#include "server/api/api_error.h"
#include "tern/tokenizer.h"

namespace tern::server {

// True if the vocabulary has the tokens for it.
bool can_fill_in(const Tokenizer& tokenizer);

// The prompt: both texts, and the mark after which the missing text follows. 400, for `param`: the model cannot.
ApiResult<std::vector<TokenId>> fill_in_prompt(const Tokenizer& tokenizer, const std::string& prefix,
                                               const std::string& suffix, const std::string& param);

}  // namespace tern::server
