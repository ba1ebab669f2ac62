// Filters of lists, for filters.cc.
#pragma once

#include <string_view>

#include "text/jinja/functions.h"

namespace tern {

// Null: there is none with that name.
TemplateNative find_template_list_filter(std::string_view name);

// Joins the items of a list with separators; also str.join().
TemplateValue join_texts(TemplateCall& call, const TemplateValue& items, std::string_view separator);

}  // namespace tern
