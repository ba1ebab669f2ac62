// What requests hold their replies to, compiled once for all that ask for the same.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "server/api/fields.h"
#include "tern/grammar.h"

namespace tern::server {

using GrammarPtr = std::shared_ptr<const Grammar>;

// The grammars asked for last. Threads may share it.
class GrammarCache {
 public:
  enum class Kind : uint8_t { kJsonSchema, kJsonObject, kGbnf, kToolCall };

  // 400, for `param`, where the text is not followed.
  ApiResult<GrammarPtr> get(Kind kind, const std::string& text, const std::string& param);
  // `end`: of a call of a tool.
  Result<GrammarPtr> find_or_make(Kind kind, const std::string& text, const std::string& end = {});

 private:
  struct Entry {
    Kind kind;
    std::string text, end;
    GrammarPtr grammar;
  };

  std::mutex mutex_;
  std::list<Entry> entries_;  // the one used last first
};

// What `response_format`, and llama.cpp's `json_schema` and `grammar`, ask for; null: nothing.
ApiResult<GrammarPtr> read_response_format(Fields& fields, GrammarCache& grammars);

// The same of `text.format`, which has a schema's fields side by side.
ApiResult<GrammarPtr> read_text_format(Fields& fields, GrammarCache& grammars);

}  // namespace tern::server
