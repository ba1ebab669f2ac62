// Regular expressions as in JavaScript with the flag u, as far as they are regular.
#pragma once

#include <string_view>

#include "base/result.h"
#include "grammar/rules/char_automaton.h"

namespace tern::grammar {

// kWhole: the expression matches the whole text. kAnywhere: it matches some part of the text, as in JSON Schema's
// `pattern`.
enum class RegexMatch { kWhole, kAnywhere };

// Supports groups, also named ones; | * + ? {m,n} and their lazy forms, which take the same texts; ^ and $; classes; \d
// \w \s and their opposites; escapes of characters. kNotSupported, naming it and its column: \b, \B, look-around, back
// references, \p, flags, and an expression that takes more than CharAutomaton::kMaxStates states. kInvalidArgument: not
// a regular expression. `any_case`: what a class with ^ leaves out, it leaves out in both cases; the rest is left to
// CharAutomaton::in_any_case().
Result<CharAutomaton> parse_regex(std::string_view pattern, RegexMatch match, bool any_case = false);

}  // namespace tern::grammar
