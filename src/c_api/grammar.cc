// Grammar handles.
#include <string_view>

#include "c_api/error.h"
#include "c_api/handles.h"

using namespace tern;
using namespace tern::c_api;

namespace {

Result<std::shared_ptr<const Grammar>> make(int32_t kind, std::string_view text) {
  switch (kind) {
    case TERN_GRAMMAR_JSON_SCHEMA:
      return Grammar::json_schema(text);
    case TERN_GRAMMAR_JSON_OBJECT:
      if (!text.empty()) return fail(ErrorCode::kInvalidArgument, "a grammar of any JSON object has no text");
      return Grammar::json_object();
    case TERN_GRAMMAR_GBNF:
      return Grammar::gbnf(text);
    case TERN_GRAMMAR_REGEX:
      return Grammar::regex(text);
    default:
      return fail(ErrorCode::kInvalidArgument, "kind is {}, but can be 0 to {}", kind, int{TERN_GRAMMAR_REGEX});
  }
}

}  // namespace

tern_code tern_grammar_new(int32_t kind, const char* text, size_t n_bytes, tern_grammar** grammar, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    if (n_bytes > 0) TRY_STATUS(given(text, "text"));
    TRY_STATUS(given(grammar, "grammar"));
    TRY(auto made, make(kind, std::string_view(text, n_bytes)));
    *grammar = new tern_grammar{std::move(made)};
    return {};
  });
}

void tern_grammar_free(tern_grammar* grammar) { delete grammar; }
