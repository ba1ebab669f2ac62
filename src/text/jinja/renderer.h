// Runs a chat template.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/syntax.h"

namespace tern {

using TemplateNames = std::vector<std::pair<std::string_view, TemplateValue>>;

// The output of the template with `names` as its variables. TemplateFailure: the template raises an error or exceeds
// its budget.
TemplateText render_template(const TemplateBody& body, TemplateNames names, TemplateMemory& memory);

}  // namespace tern
