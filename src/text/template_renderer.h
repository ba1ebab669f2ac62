// Runs a chat template.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/template_syntax.h"

namespace tern {

using TemplateNames = std::vector<std::pair<std::string_view, TemplateValue>>;

// What the template writes, with `names` as the variables that it finds. TemplateFailure where it objects or uses up
// what it may.
std::string render_template(const TemplateBody& body, TemplateNames names, TemplateMemory& memory);

}  // namespace tern
