// Checks a request before anything is computed for it.
#pragma once

#include <span>

#include "base/result.h"
#include "tern/engine.h"

namespace tern {

// A prompt must have at least one token, ids below n_vocab, and no more tokens than n_ctx: else kInvalidArgument.
Result<void> check_prompt(std::span<const TokenId> prompt, int n_vocab, int n_ctx);

// Checks the prompt and every option of a new reply. Returns the options, with unset sampling options from `advised`.
// `tokenizer` may be null. kInvalidArgument: a value out of range. kNotSupported: a grammar without a tokenizer.
Result<GenerateOptions> check_request(std::span<const TokenId> prompt, const GenerateOptions& options,
                                      const Tokenizer* tokenizer, int n_vocab, int n_ctx, const SampleOptions& advised);

}  // namespace tern
