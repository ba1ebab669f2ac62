// Python's two ways to put values into a text: '{} {name}'.format(…) and '%s' % x.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "text/jinja/value.h"

namespace tern {

// Fields are {}, {0} and {name}; format specifications, conversions and attributes are refused.
TemplateText format_fields(std::string_view text, std::span<const TemplateValue> values,
                           std::span<const std::pair<std::string_view, TemplateValue>> named, TemplateMemory& memory);

// %s, %d, %i, %% and %(name)s, without widths. `value` is a tuple, a dict for names, or the only value.
TemplateText format_percent(std::string_view text, const TemplateValue& value, TemplateMemory& memory);

}  // namespace tern
