// Whole characters from UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tern::grammar {

// Removes the first character from `text` and returns it; nullopt: `text` does not begin with a valid character
// (overlong forms and surrogates are invalid).
std::optional<char32_t> take_char(std::string_view& text);

// The characters up to the first invalid one.
std::u32string chars_of(std::string_view text);

void append_char(char32_t c, std::string& text);

}  // namespace tern::grammar
