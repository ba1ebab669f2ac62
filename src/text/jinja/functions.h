// The functions of chat templates: Jinja's filters, tests and functions, and the methods of Python's values, as far as
// templates use them.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/operations.h"
#include "text/jinja/value.h"

namespace tern {

// A call with its arguments. For filters, tests and methods, `args[0]` is the value that they are applied to.
struct TemplateCall {
  TemplateMemory& memory;
  std::string_view name;
  std::vector<TemplateValue> args = {};
  std::vector<std::pair<std::string_view, TemplateValue>> named = {};

  TemplateBudget& budget() const { return memory.budget(); }
  const TemplateValue& self() const { return args[0]; }

  // Argument `i`, or the one with that name; null: not given.
  const TemplateValue* find(size_t i, std::string_view argument) const;
  const TemplateValue& need(size_t i, std::string_view argument) const;
  // Arguments of a required type; `otherwise`: the default.
  std::string_view text(size_t i, std::string_view argument, std::string_view otherwise) const;
  int64_t integer(size_t i, std::string_view argument, int64_t otherwise) const;
  bool flag(size_t i, std::string_view argument, bool otherwise) const;

  TemplateValue keep(std::string&& made) const { return memory.keep(std::move(made)); }
  TemplateValue keep(TemplateText&& made) const { return memory.keep(std::move(made)); }
  // A text that was made from `source` alone.
  TemplateValue keep_like(std::string_view source, std::string&& made) const {
    return memory.is_own(source) ? memory.keep_own(std::move(made)) : memory.keep(std::move(made));
  }
};

using TemplateNative = TemplateValue (*)(TemplateCall& call);
using TemplateTest = bool (*)(TemplateCall& call);

// Null: there is none with that name.
TemplateNative find_template_filter(std::string_view name);
TemplateTest find_template_test(std::string_view name);
TemplateNative find_template_global(std::string_view name);
// Methods of texts, lists and dicts. Refuses methods that modify their object, which transformers forbids too.
TemplateNative find_template_method(const TemplateValue& of, std::string_view name);
TemplateNative find_dict_method(std::string_view name);

// append() and pop() of a list that a namespace has: the namespace gets another list, as lists do not change.
bool changes_list(std::string_view method);
TemplateValue change_list(TemplateNamespace& owner, std::string_view name, const TemplateCall& call);

// Call by name with the call's arguments. Unknown names are refused.
TemplateValue call_template_filter(TemplateCall& call);
bool call_template_test(TemplateCall& call);

// A function as a template's value: one of the above, or a macro.
struct TemplateStatement;
struct TemplateScope;
struct TemplateFunction {
  TemplateNative native = nullptr;
  std::string_view name = {};
  TemplateNamespace* state = nullptr;        // state of a native function: args[0] of its calls
  const TemplateStatement* macro = nullptr;  // or a call block
  TemplateScope* scope = nullptr;            // where the macro is defined
  bool is_method = false;                    // called with its object only: object.name()
};

}  // namespace tern
