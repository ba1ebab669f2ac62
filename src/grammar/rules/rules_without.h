// Rules for those texts of other rules in which a mark does not occur.
#pragma once

#include <string_view>

#include "base/result.h"
#include "grammar/rules/rules.h"

namespace tern::grammar {

// kNotSupported: it takes too many states.
Result<Rules> rules_without(const Rules& rules, std::string_view mark);

}  // namespace tern::grammar
