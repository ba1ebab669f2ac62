// The flags of added tokens in Hugging Face's JSON files. For .cc files only: JSON is a heavy include.
#pragma once

#include <string_view>

#include "base/json_reader.h"

namespace tern {

// The TokenFlag bits of an added token: "lstrip", "rstrip", "single_word", "normalized".
Result<uint8_t> read_token_flags(const Json& token, std::string_view path);

}  // namespace tern
