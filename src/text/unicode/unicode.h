// Unicode tables for tokenizers and templates: utf8proc's or, in a browser, the browser's own (web/unicode.cc).
#pragma once

#include <string>
#include <string_view>

namespace tern {

// True if normalization may reorder `c`: its canonical combining class is not 0.
bool is_combining_mark(char32_t c);

// Letters, marks, decimal digits, letter-like numbers and connectors such as '_': categories L, M, Nd, Nl and Pc.
bool is_word_category(char32_t c);

bool is_letter(char32_t c);

// The other case, if it is one character; else `c`. See case_map.h.
char32_t to_lower(char32_t c);
char32_t to_upper(char32_t c);
char32_t to_title(char32_t c);

// Appends `text`, which must be valid UTF-8, in normalization form C.
void append_nfc(std::string_view text, std::string& out);

}  // namespace tern
