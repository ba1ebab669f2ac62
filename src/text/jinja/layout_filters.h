// Filters and methods that lay texts out: to a width, or for addresses and HTML.
#pragma once

#include <string_view>

#include "text/jinja/functions.h"

namespace tern {

// Null: there is none with that name.
TemplateNative find_template_layout_filter(std::string_view name);
TemplateNative find_template_layout_method(std::string_view name);

}  // namespace tern
