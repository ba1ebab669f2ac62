// Two classes of Unicode characters, as the regular expressions \s and \w of Rust (in which Hugging Face's tokenizers
// are written) define them.
#pragma once

namespace tern {

bool is_white_space(char32_t c);     // the property White_Space
bool is_word_character(char32_t c);  // letters, marks, decimal digits, connectors such as '_', U+200C and U+200D

}  // namespace tern
