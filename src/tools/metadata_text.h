// GGUF metadata values as short text.
#pragma once

#include <string>
#include <string_view>

#include "file/gguf.h"

namespace tern {

// A number, true/false, a string, or an array in brackets. Arrays show their first items and how many there are; long
// strings their beginning and how many bytes they have.
std::string metadata_text(const GgufValue& value);

// The string on one line: newline, tab, carriage return and backslash as \n, \t, \r, \\; other control bytes as \xNN,
// and what else a terminal would obey unseen as visible() writes it.
// Text longer than `longest` bytes is cut at a character, with its length after it.
std::string escaped_text(std::string_view text, size_t longest);

}  // namespace tern
