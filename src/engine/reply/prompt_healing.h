// Prompt healing, for prompts that end inside a word: takes back the last tokens, and chooses tokens that begin with
// their text and may continue it. With the prompt's own tokens the model assumes that the word ends there: " h" + "ap"
// does not occur in a text that contains " happy".
#pragma once

#include <span>
#include <string>

#include "tern/options.h"
#include "tern/tokenizer.h"

namespace tern {

// The number of last tokens of `prompt` that may be taken back: as many as together begin another token, with at least
// one token before them. 0: none, or `tokenizer` is null.
size_t n_to_heal(std::span<const TokenId> prompt, const Tokenizer* tokenizer);

// Chooses the token that replaces the start of `tail`, by the logits [n_vocab] before `tail`: a token that begins with
// all of its text, or the first token of `tail` itself, after which the caller may continue with the rest. Uses its own
// random numbers, made from the seed, so that those of the reply do not change.
TokenId choose_healed(std::span<const float> logits, std::span<const TokenId> tail, const Tokenizer& tokenizer,
                      const Sampling& sampling);

// The text of `tail`.
std::string spelling(std::span<const TokenId> tail, const Tokenizer& tokenizer);

}  // namespace tern
