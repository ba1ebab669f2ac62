// llama.cpp's notation for grammars.
#pragma once

#include <string_view>

#include "base/result.h"
#include "grammar/rules.h"

namespace tern::grammar {

// Rules `name ::= …`, of which `root` is the text. In them: "literals", [classes], names, ( ), |, and * + ? {m,n}
// behind any of these; `.` is any character; # begins a comment. A rule ends with its line, except inside parentheses
// and before or behind a |. Escapes: \n \r \t \" \\ \[ \] \xHH \uHHHH \UHHHHHHHH. Errors name line and column.
Result<Rules> parse_gbnf(std::string_view text);

}  // namespace tern::grammar
