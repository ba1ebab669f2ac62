// Regular expressions as in JavaScript with the flag u, or as in Python, as far as they are regular.
#pragma once

#include <string_view>

#include "base/result.h"
#include "grammar/rules/char_automaton.h"

namespace tern::grammar {

// kWhole: the expression matches the whole text. kAnywhere: it matches some part of the text, as in JSON Schema's
// `pattern`.
enum class RegexMatch { kWhole, kAnywhere };

struct RegexSyntax {
  bool is_python = false;     // as Python's module `re` reads text; else as JavaScript with the flag u
  bool any_case = false;      // classes with ^ leave out both cases; the rest is left to CharAutomaton::in_any_case()
  bool dot_is_all = false;    // a dot takes line ends too
  bool is_whole_text = true;  // else ^ and $, which mean the ends of the text, are kNotSupported
};

// Supports groups, also named ones; | * + ? {m,n} and their lazy forms, which take the same texts; ^ and $; classes; \d
// \w \s and their opposites; escapes of characters. kNotSupported, naming it and its column: \b, \B, look-around, back
// references, \p, flags, and an expression that takes more than CharAutomaton::kMaxStates states. kInvalidArgument: not
// a regular expression.
Result<CharAutomaton> parse_regex(std::string_view pattern, RegexMatch match, const RegexSyntax& syntax = {});

}  // namespace tern::grammar
