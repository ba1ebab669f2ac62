#include "text/jinja/functions.h"
#include "text/unicode/utf8.h"

namespace tern {

const TemplateValue* TemplateCall::find(size_t i, std::string_view argument) const {
  if (i < args.size()) return &args[i];
  for (const auto& [known, value] : named) {
    if (known == argument) return &value;
  }
  return nullptr;
}

const TemplateValue& TemplateCall::need(size_t i, std::string_view argument) const {
  const TemplateValue* found = find(i, argument);
  if (found == nullptr) object("{}() without {}", name, argument);
  return *found;
}

std::string_view TemplateCall::text(size_t i, std::string_view argument, std::string_view otherwise) const {
  const TemplateValue* found = find(i, argument);
  return found == nullptr || std::holds_alternative<None>(*found) ? otherwise : to_string_view(*found);
}

int64_t TemplateCall::integer(size_t i, std::string_view argument, int64_t otherwise) const {
  const TemplateValue* found = find(i, argument);
  return found == nullptr || std::holds_alternative<None>(*found) ? otherwise : to_integer(*found);
}

bool TemplateCall::flag(size_t i, std::string_view argument, bool otherwise) const {
  const TemplateValue* found = find(i, argument);
  return found == nullptr ? otherwise : is_true(*found);
}

TemplateValue call_template_filter(TemplateCall& call) {
  const TemplateNative filter = find_template_filter(call.name);
  if (filter == nullptr) refuse_template("an unknown filter, '{}'", printable(call.name));
  call.budget().step();
  return filter(call);
}

bool call_template_test(TemplateCall& call) {
  const TemplateTest test = find_template_test(call.name);
  if (test == nullptr) refuse_template("an unknown test, '{}'", printable(call.name));
  call.budget().step();
  return test(call);
}

}  // namespace tern
