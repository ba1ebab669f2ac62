// llama.cpp's grammar notation, and xgrammar's.
#pragma once

#include <string_view>

#include "base/result.h"
#include "grammar/rules/rules.h"

namespace tern::grammar {

// Reads rules `name ::= …`; the rule `root` is the text. Rules may contain "literals", [classes], names, ( ), |, and *
// + ? {m,n} after any of these; `.` is any character; # begins a comment. A rule ends with its line, except inside
// parentheses and before or after a |. Escapes: \n \r \t \" \\ \[ \] \xHH \uHHHH \UHHHHHHHH. Error messages name line
// and column.
//
// kEbnf reads the same as xgrammar does: a rule ends where the next one begins, names may have dots inside, there are
// more escapes, and \xH… has any number of digits. Its look-ahead, macros and options of rules are errors.
enum class GbnfSyntax { kGbnf, kEbnf };
Result<Rules> parse_gbnf(std::string_view text, GbnfSyntax syntax = GbnfSyntax::kGbnf);

}  // namespace tern::grammar
