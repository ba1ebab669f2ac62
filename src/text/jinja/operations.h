// The operators of a chat template's expressions, which work like Python's.
#pragma once

#include <string_view>

#include "text/jinja/value.h"

namespace tern {

// of.name and of[key]. A missing one is undefined; raises an error if `of` itself is undefined.
TemplateValue attribute(const TemplateValue& of, std::string_view name, TemplateMemory& memory);
TemplateValue item(const TemplateValue& of, const TemplateValue& key, TemplateMemory& memory);
// "a.b.0": attributes in the notation of filters.
TemplateValue attribute_path(TemplateValue of, std::string_view path, TemplateMemory& memory);

// of[from:to:step]; None: left out.
struct TemplateSlice {
  TemplateValue from = None{};
  TemplateValue to = None{};
  TemplateValue step = None{};
};
TemplateValue slice(const TemplateValue& of, const TemplateSlice& bounds, TemplateMemory& memory);

// The number of characters, items or keys.
size_t length(const TemplateValue& of, TemplateBudget& budget);

// + - * / // % **
TemplateValue arithmetic(const TemplateValue& a, std::string_view op, const TemplateValue& b, TemplateMemory& memory);
TemplateValue negative(const TemplateValue& value, TemplateMemory& memory);
// == != < <= > >= in, not in
bool compare(const TemplateValue& a, std::string_view op, const TemplateValue& b, TemplateBudget& budget);

// Integers, including booleans; raises an error for anything else.
int64_t to_integer(const TemplateValue& value);
std::string_view to_string_view(const TemplateValue& value);  // only texts; raises an error for others

}  // namespace tern
