// From a chat template's tokens to its tree.
#pragma once

#include <string_view>

#include "text/template_syntax.h"

namespace tern {

// The tree points into `memory`. TemplateFailure where the syntax is wrong, or one that chat templates have no use for
// (files that include others), or nested deeper than a template needs.
TemplateBody parse_template(std::string_view source, TemplateMemory& memory);

}  // namespace tern
