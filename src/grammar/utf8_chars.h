// Whole characters out of UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tern::grammar {

// Takes the first character from `text`; nothing where it does not begin with one (overlong forms and surrogates are
// none).
std::optional<char32_t> take_char(std::string_view& text);

void append_char(char32_t c, std::string& text);

}  // namespace tern::grammar
