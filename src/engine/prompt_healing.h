// A prompt that ends inside a word: its last tokens are taken back, and what they spell is written anew by tokens that
// may go on with it. A text's own tokens would say that the word ends there: who writes "hap" as " h" and "ap" has not
// seen " happy".
#pragma once

#include <span>
#include <string>

#include "tern/options.h"
#include "tern/tokenizer.h"

namespace tern {

// How many of the last tokens of `prompt` may be taken back: as many as together begin another token, with something
// before them. 0: none, and where `tokenizer` is null.
size_t n_to_heal(std::span<const TokenId> prompt, const Tokenizer* tokenizer);

// The token that begins `tail`'s text anew, by the logits [n_vocab] of what comes before: one that begins with all of
// it, or the first of `tail` itself, after which the rest may be asked for. Draws with random numbers of its own, made
// from the seed, so that those of the reply stay what they are.
TokenId choose_healed(std::span<const float> logits, std::span<const TokenId> tail, const Tokenizer& tokenizer,
                      const Sampling& sampling);

// What all of `tail` spells.
std::string spelling(std::span<const TokenId> tail, const Tokenizer& tokenizer);

}  // namespace tern
