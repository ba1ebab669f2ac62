// The tokens that a device chooses by itself, against the choices of the CPU.
#pragma once

#include <span>

#include "tern/tools.h"

namespace tern {

// Generates n_tokens greedily after `prompt` with `engine`, then asks the CPU what it would choose after the same
// tokens at each step. Sets the fields of `result` that are about that. prompt.size() + n_tokens fit into the context.
// Of `options` only what is not about tokens counts: the type of the KV cache, and whom to tell how far it is.
Result<void> compare_tokens(const Engine& engine, std::span<const TokenId> prompt, int n_tokens,
                            const ValidateOptions& options, ValidateResult& result);

}  // namespace tern
