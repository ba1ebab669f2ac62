// Rules for those texts of other rules in which a mark does not occur.
#pragma once

#include <string_view>

#include "base/result.h"
#include "grammar/rules/rules.h"

namespace tern::grammar {

// What the grammars of one schema may take together, in states and edges visited: about half a second.
// Writing a state, or a range of characters, takes as long as visiting kWorkOfState of them.
inline constexpr size_t kWorkOfState = 8;
inline constexpr size_t kMostGrammarWork = 30'000'000;

// Subtracts what it takes from `work_left`. kNotSupported: it takes too many states, or more than that.
Result<Rules> rules_without(const Rules& rules, std::string_view mark, size_t& work_left);

}  // namespace tern::grammar
