// Free text up to marks in it.
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "grammar/rules/rules.h"

namespace tern::grammar {

// Adds any text at `from`. None of `excluded` occurs in it. Where one of `marks` is complete, the text goes on at its
// state; of marks that are complete at the same place, at that of the longest. Returns the state where the text may
// end. kNotSupported: marks that are too long together.
Result<StateId> add_free_text(RuleWriter& rules, StateId from, std::span<const std::u32string> excluded,
                              const std::map<std::u32string, StateId>& marks);

}  // namespace tern::grammar
