// A chat template's source as tokens. One pass from front to back: the time is linear in the length, whatever it says.
#pragma once

#include <string_view>
#include <vector>

#include "text/template_value.h"

namespace tern {

enum class TemplateTokenKind : uint8_t {
  kText,         // outside of all tags, with the white space removed that the tags remove
  kOutputBegin,  // {{
  kOutputEnd,    // }}
  kBlockBegin,   // {%
  kBlockEnd,     // %}
  kName,
  kString,  // `text` is what it stands for
  kInteger,
  kFloat,
  kOperator,
  kEnd,
};

struct TemplateToken {
  TemplateTokenKind kind = TemplateTokenKind::kEnd;
  std::string_view text;
  int line = 1;
};

// With trim_blocks and lstrip_blocks, as transformers sets up Jinja. The last token is kEnd. TemplateFailure where a
// tag, a comment or a text in quotes does not end, or a character means nothing.
std::vector<TemplateToken> read_template_tokens(std::string_view source, TemplateMemory& memory);

}  // namespace tern
