// Compiled constraints on replies, shared by all requests with the same constraint.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "server/api/fields.h"
#include "server/api/grammars/grammar_compiler.h"
#include "tern/grammar.h"

namespace tern::server {

// Caches the most recently used grammars. Thread-safe.
class GrammarCache {
 public:
  enum class Kind : uint8_t { kJsonSchema, kJsonObject, kGbnf, kLark, kRegex, kToolCall };

  // 400, for `param`, if the text is invalid or not supported.
  ApiResult<GrammarPtr> get(Kind kind, const std::string& text, const std::string& param);
  // `end`: the text that ends a tool call.
  Result<GrammarPtr> find_or_make(Kind kind, const std::string& text, const std::string& end = {});

 private:
  struct Entry {
    Kind kind;
    std::string text, end;
    GrammarPtr grammar;
  };

  std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
};

// The schema with the members of its objects in any order, as the request's `any_order` asks; nullopt: it does not.
std::optional<Json> in_any_order(Fields& fields, const Json& schema);

// The grammar for `response_format`, or llama.cpp's `json_schema` or `grammar`; null: none is given.
ApiResult<GrammarPtr> read_response_format(Fields& fields, GrammarCache& grammars);

// The same for `text.format`, where the schema's fields are beside the type.
ApiResult<GrammarPtr> read_text_format(Fields& fields, GrammarCache& grammars);

}  // namespace tern::server
