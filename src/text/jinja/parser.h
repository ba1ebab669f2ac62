// Parses a chat template's tokens into a tree.
#pragma once

#include <string_view>

#include "text/jinja/syntax.h"

namespace tern {

// The tree points into `memory`. TemplateFailure: the syntax is wrong, or of no use in chat templates (including other
// files), or nested deeper than a template needs.
TemplateBody parse_template(std::string_view source, TemplateMemory& memory);

}  // namespace tern
