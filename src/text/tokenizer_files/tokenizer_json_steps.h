// The steps around the model in a tokenizer.json: what happens to text before it and to ids after it. For .cc files
// only.
#pragma once

#include "base/json_reader.h"
#include "text/tokenizer/vocab.h"

namespace tern {

// Reads "normalizer", "pre_tokenizer" and "decoder" into the vocabulary's kind and the settings of that kind.
Result<void> read_text_steps(const Json& root, Vocab& vocab, std::string_view path);

// Reads the tokens that "post_processor" puts before and after a text, if any: BOS and the final token.
Result<void> read_frame(const Json& root, Vocab& vocab, std::string_view path);

}  // namespace tern
