// The steps around the model in a tokenizer.json: what happens to text before it and to ids after it. For .cc files
// only.
#pragma once

#include <optional>

#include "base/json_reader.h"
#include "text/vocab.h"

namespace tern {

// What "normalizer", "pre_tokenizer" and "decoder" do, into the vocabulary's kind and the settings of that kind.
Result<void> read_text_steps(const Json& root, Vocab& vocab, std::string_view path);

// The token that "post_processor" puts first, if any.
Result<std::optional<TokenId>> read_bos(const Json& root, std::string_view path);

}  // namespace tern
