// JSON of a request as values of a chat template.
#pragma once

#include <string_view>

#include "text/jinja/value.h"

namespace tern {

// The request is invalid, not the template.
class RequestFailure : public TemplateFailure {
 public:
  using TemplateFailure::TemplateFailure;
};

template <class... Args>
[[noreturn]] void refuse_request(std::format_string<Args...> format, Args&&... args) {
  throw RequestFailure(ErrorCode::kInvalidArgument, format_text(format, std::forward<Args>(args)...));
}

// Reads JSON like Python's json.loads: members stay in order, and the last of several with one name counts. `what`:
// name of the text in errors. RequestFailure: not JSON, nested more than 48 deep, or an integer of more than 64 bits.
TemplateValue read_template_json(std::string_view text, std::string_view what, TemplateMemory& memory);

}  // namespace tern
