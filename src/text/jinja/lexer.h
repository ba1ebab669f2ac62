// Splits a chat template's source into tokens. One pass, so the time is linear in the length for any source.
#pragma once

#include <string_view>
#include <vector>

#include "text/jinja/value.h"

namespace tern {

enum class TemplateTokenKind : uint8_t {
  kText,         // outside of all tags, without the white space that tags remove
  kOutputBegin,  // {{
  kOutputEnd,    // }}
  kBlockBegin,   // {%
  kBlockEnd,     // %}
  kName,
  kString,  // `text` is its value
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

// Uses trim_blocks and lstrip_blocks, as transformers sets up Jinja. The last token is kEnd. TemplateFailure: a tag,
// comment or string literal does not end, or an invalid character.
std::vector<TemplateToken> read_template_tokens(std::string_view source, TemplateMemory& memory);

}  // namespace tern
