// Structural tags: free text, with marks behind which a reply has a form.
#pragma once

#include <string_view>

#include "base/result.h"
#include "grammar/rules/rules.h"

namespace tern::grammar {

// See Grammar::structural_tag. Errors name the place as a JSON pointer.
Result<Rules> parse_structural_tag(std::string_view json);

}  // namespace tern::grammar
