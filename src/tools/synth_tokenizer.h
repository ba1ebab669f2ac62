// A tokenizer for models that nobody trained: a token for each byte.
#pragma once

#include "file/gguf_writer.h"

namespace tern {

inline constexpr int kFewestTokensOfBytes = 258;

// GPT-2's kind of tokenizer with `n_vocab` tokens, at least kFewestTokensOfBytes. Text becomes the first 256, a token a
// byte. The last one ends a reply; those between are made words that no text becomes, but that a model with random
// weights writes. Other programs read it, too.
void add_byte_tokenizer(GgufWriter& writer, int n_vocab);

}  // namespace tern
