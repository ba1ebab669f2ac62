// The operators of a chat template's expressions, as Python's.
#pragma once

#include <string_view>

#include "text/template_value.h"

namespace tern {

// of.name and of[key]. What is not there is undefined; objects where `of` itself is.
TemplateValue attribute(const TemplateValue& of, std::string_view name, TemplateMemory& memory);
TemplateValue item(const TemplateValue& of, const TemplateValue& key, TemplateMemory& memory);
// "a.b.0", as filters name attributes.
TemplateValue attribute_path(TemplateValue of, std::string_view path, TemplateMemory& memory);

// of[from:to:step]; none: left out.
struct TemplateSlice {
  TemplateValue from = None{};
  TemplateValue to = None{};
  TemplateValue step = None{};
};
TemplateValue slice(const TemplateValue& of, const TemplateSlice& bounds, TemplateMemory& memory);

// In characters, items or keys.
size_t length(const TemplateValue& of, TemplateBudget& budget);

// + - * / // % **
TemplateValue arithmetic(const TemplateValue& a, std::string_view op, const TemplateValue& b, TemplateMemory& memory);
// == != < <= > >= in, not in
bool compare(const TemplateValue& a, std::string_view op, const TemplateValue& b, TemplateBudget& budget);

// Whole numbers, which booleans are too; objects to anything else.
int64_t to_integer(const TemplateValue& value);
std::string_view to_string_view(const TemplateValue& value);  // of texts; objects to anything else

}  // namespace tern
