// Compares the tokens that a device samples itself with the CPU's choices.
#pragma once

#include <span>

#include "tern/tools.h"

namespace tern {

// Generates n_tokens greedily after `prompt` with `engine`, then computes the CPU's choice after the same tokens at
// each step. Sets the token fields of `result`. prompt.size() + n_tokens must fit into the context. `options`: only
// kv_type and on_progress are used.
Result<void> compare_tokens(const Engine& engine, std::span<const TokenId> prompt, int n_tokens,
                            const ValidateOptions& options, ValidateResult& result);

}  // namespace tern
