// The steps around the model in a tokenizer.json: what happens to text before it and to ids after it. For .cc files
// only.
#pragma once

#include <optional>

#include "text/json_reader.h"
#include "text/vocab.h"

namespace tern {

// Whether "normalizer" is NFC; false if there is none.
Result<bool> read_normalizer(const Json& root, std::string_view path);

// Which of the expressions that Tern knows "pre_tokenizer" uses.
Result<PreTokenizer> read_pre_tokenizer(const Json& root, std::string_view path);

// The token that "post_processor" puts first, if any.
Result<std::optional<TokenId>> read_bos(const Json& root, std::string_view path);

}  // namespace tern
