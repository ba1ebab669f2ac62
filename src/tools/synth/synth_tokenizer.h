// A byte-level tokenizer for random models.
#pragma once

#include "file/gguf/gguf_writer.h"

namespace tern {

inline constexpr int kFewestTokensOfBytes = 258;

// Adds a GPT-2 tokenizer with `n_vocab` tokens, at least kFewestTokensOfBytes. Text uses the first 256, one token per
// byte. The last token ends a reply. The tokens between are made-up words that no text encodes to, but that a model
// with random weights generates. Other programs can read it too.
void add_byte_tokenizer(GgufWriter& writer, int n_vocab);

}  // namespace tern
