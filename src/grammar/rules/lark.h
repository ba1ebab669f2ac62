// Lark's grammar notation, as far as it says which texts there are.
#pragma once

#include <string_view>

#include "base/result.h"
#include "grammar/rules/char_automaton.h"
#include "grammar/rules/rules.h"

namespace tern::grammar {

// Reads rules and TERMINALS; the rule `start` is the text. They may contain "literals" (also "…"i), "a".."z", regular
// expressions (/…/, flags i, s and u; see regex.h), names, ( ), [ ], |, and * + ? ~n ~n..m behind any of these.
// `%import common.NAME` and `%ignore` are there. Aliases, priorities and what is about trees change no text. A text is
// allowed if some division of it into terminals fits the rules, as with Lark's Earley parser. Rules may begin with
// themselves, but not by way of others. Error messages name line and column.
Result<Rules> parse_lark(std::string_view text);

// The same as a rule of `rules`, with the characters as `spelling` writes them.
Result<RuleId> write_lark(RuleWriter& rules, std::string_view text, CharAutomaton::Spelling spelling);

}  // namespace tern::grammar
