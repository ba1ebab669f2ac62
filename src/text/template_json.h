// JSON of a request as values of a chat template.
#pragma once

#include <string_view>

#include "text/template_value.h"

namespace tern {

// What is wrong with a request, not with the template.
class RequestFailure : public TemplateFailure {
 public:
  using TemplateFailure::TemplateFailure;
};

template <class... Args>
[[noreturn]] void refuse_request(std::format_string<Args...> format, Args&&... args) {
  throw RequestFailure(ErrorCode::kInvalidArgument, format_text(format, std::forward<Args>(args)...));
}

// As Python's json.loads has it: members stay in their order, the last of two with one name counts. `what` names the
// text in errors. RequestFailure: no JSON, nested more than 48 deep, or a whole number of more than 64 bits.
TemplateValue read_template_json(std::string_view text, std::string_view what, TemplateMemory& memory);

}  // namespace tern
