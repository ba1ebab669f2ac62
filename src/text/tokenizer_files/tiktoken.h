// Reads tiktoken's ranks; see tokenizer_model.h.
#pragma once

#include <string_view>

#include "base/result.h"
#include "text/tokenizer/vocab.h"

namespace tern {

bool looks_like_tiktoken(std::string_view text);
Result<Vocab> read_tiktoken(std::string_view text, std::string_view path);

}  // namespace tern
