// Unicode normalisation, for tokenizers whose training text was normalised.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tern {

// `text`, which must be valid UTF-8, in normalisation form C; nothing if it is in that form by a cheap test (true of
// all text in European languages that was typed and not pasted together). A run of more than 256 combining marks is
// normalised in parts, since putting it in order takes quadratic time.
std::optional<std::string> to_nfc(std::string_view text);

}  // namespace tern
