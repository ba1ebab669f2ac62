// GGUF metadata values as short text.
#pragma once

#include <string>
#include <string_view>

#include "file/gguf/gguf.h"

namespace tern {

// Formats a number, true/false, a string, or an array in brackets. Arrays show their first items and their length; long
// strings show their start and their size in bytes.
std::string metadata_text(const GgufValue& value);

// Escapes the string to one line: newline, tab, carriage return and backslash as
// , \t, \r, \\; other control bytes as \xNN; invisible characters that affect a terminal as visible() writes them.
// Text longer than `longest` bytes is cut at a character boundary, followed by its size.
std::string escaped_text(std::string_view text, size_t longest);

}  // namespace tern
