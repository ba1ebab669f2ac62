// Regular expressions, as JavaScript has them with the flag u, as far as they are regular.
#pragma once

#include <string_view>

#include "base/result.h"
#include "grammar/char_automaton.h"

namespace tern::grammar {

// kWhole: texts that match from their first to their last character. kAnywhere: texts in which some part matches, as
// JSON Schema's `pattern` means it.
enum class RegexMatch { kWhole, kAnywhere };

// Groups, also named ones; | * + ? {m,n} and their lazy forms, which take the same texts; ^ and $; classes; \d \w \s
// and their opposites; escapes of characters. kNotSupported, naming it and its column: \b, \B, look-around, back
// references,
// \p, flags, and what takes more than CharAutomaton::kMaxStates states. kInvalidArgument: what is no expression.
Result<CharAutomaton> parse_regex(std::string_view pattern, RegexMatch match);

}  // namespace tern::grammar
