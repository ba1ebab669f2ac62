// What a chat template can call: Jinja's filters, tests and functions, and the methods of Python's values, as far as
// templates use them.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "text/template_operations.h"
#include "text/template_value.h"

namespace tern {

// A call with its arguments. `args[0]` of filters, tests and methods is what they are applied to.
struct TemplateCall {
  TemplateMemory& memory;
  std::string_view name;
  std::vector<TemplateValue> args = {};
  std::vector<std::pair<std::string_view, TemplateValue>> named = {};

  TemplateBudget& budget() const { return memory.budget(); }
  const TemplateValue& self() const { return args[0]; }

  // Argument `i`, or the one of that name; null: not given.
  const TemplateValue* find(size_t i, std::string_view argument) const;
  const TemplateValue& need(size_t i, std::string_view argument) const;
  // The same as what they have to be; `otherwise` where none is given.
  std::string_view text(size_t i, std::string_view argument, std::string_view otherwise) const;
  int64_t integer(size_t i, std::string_view argument, int64_t otherwise) const;
  bool flag(size_t i, std::string_view argument, bool otherwise) const;

  TemplateValue keep(std::string&& made) const { return memory.keep(std::move(made)); }
};

using TemplateNative = TemplateValue (*)(TemplateCall& call);
using TemplateTest = bool (*)(TemplateCall& call);

// Null where there is none of that name.
TemplateNative find_template_filter(std::string_view name);
TemplateTest find_template_test(std::string_view name);
TemplateNative find_template_global(std::string_view name);
// Of texts, lists and dicts. Refuses those that change what they are called on, which transformers forbids too.
TemplateNative find_template_method(const TemplateValue& of, std::string_view name);

// By name, with the arguments that are in the call. Refuses unknown ones.
TemplateValue call_template_filter(TemplateCall& call);
bool call_template_test(TemplateCall& call);

// A function that a template can hold: one of the above, or a macro.
struct TemplateStatement;
struct TemplateScope;
struct TemplateFunction {
  TemplateNative native = nullptr;
  std::string_view name = {};
  TemplateNamespace* state = nullptr;        // what a native one remembers: args[0] of its calls
  const TemplateStatement* macro = nullptr;  // or a call block
  TemplateScope* scope = nullptr;            // that the macro is defined in
};

}  // namespace tern
