// Filters of lists, for template_filters.cc.
#pragma once

#include <string_view>

#include "text/template_functions.h"

namespace tern {

// Null where there is none of that name.
TemplateNative find_template_list_filter(std::string_view name);

// The items of a list with texts between them; also str.join().
TemplateValue join_texts(TemplateCall& call, const TemplateValue& items, std::string_view separator);

}  // namespace tern
