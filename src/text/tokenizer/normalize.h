// Unicode normalization, for tokenizers trained on normalized text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tern {

// `text`, which must be valid UTF-8, in normalization form C; nullopt: a cheap test shows that it is in that form
// already (as nearly all typed text in European languages is). A run of more than 256 combining marks is normalized in
// parts, because ordering it takes quadratic time.
std::optional<std::string> to_nfc(std::string_view text);

}  // namespace tern
