#include "server/api/grammars/grammars.h"

#include <algorithm>
#include <array>

#include "base/text/format_text.h"

namespace tern::server {
namespace {

constexpr size_t kMostGrammars = 64;

// Other servers' fields for it; a reply that ignores them would have another form than is expected.
constexpr std::array<std::string_view, 8> kOtherForms = {
    "guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "format", "regex", "ebnf"};

Result<GrammarPtr> make(GrammarCache::Kind kind, const std::string& text, const std::string& end) {
  switch (kind) {
    case GrammarCache::Kind::kJsonSchema:
      return Grammar::json_schema(text);
    case GrammarCache::Kind::kJsonObject:
      return Grammar::json_object();
    case GrammarCache::Kind::kGbnf:
      return Grammar::gbnf(text);
    case GrammarCache::Kind::kLark:
      return Grammar::lark(text);
    case GrammarCache::Kind::kRegex:
      return Grammar::regex(text);
    case GrammarCache::Kind::kToolCall:
      return Grammar::tool_call(text, end);
  }
  return nullptr;
}

struct Format {
  std::string type = "text";
  const Json* schema = nullptr;
  std::string path = {};  // where the schema is in the request
};

// `holder`: the object with the schema's fields.
void read_schema(Fields& holder, Format& format) {
  format.schema = holder.find("schema");
  format.path = holder.path_of("schema");
  if (!format.schema) holder.fail("schema", "is missing");
}

ApiResult<GrammarPtr> grammar_of(Fields& fields, const Format& format, GrammarCache& grammars) {
  if (format.schema) {
    const std::optional<Json> unordered = in_any_order(fields, *format.schema);
    TRY_STATUS(fields.check());
    return grammars.get(GrammarCache::Kind::kJsonSchema, dump(unordered ? *unordered : *format.schema), format.path);
  }
  if (format.type == "json_object") return grammars.get(GrammarCache::Kind::kJsonObject, "", format.path);
  return nullptr;
}

bool is_known(Fields& fields, const std::string& type) {
  if (type == "text" || type == "json_object" || type == "json_schema") return true;
  fields.fail("type", format_text("'{}' is not text, json_object or json_schema", type.substr(0, 40)));
  return false;
}

}  // namespace

ApiResult<GrammarPtr> GrammarCache::get(Kind kind, const std::string& text, const std::string& param) {
  Result<GrammarPtr> grammar = find_or_make(kind, text);
  if (!grammar) return refuse(format_text("{}: {}", param, grammar.error().message), param);
  return *std::move(grammar);
}

Result<GrammarPtr> GrammarCache::find_or_make(Kind kind, const std::string& text, const std::string& end) {
  {
    const std::scoped_lock lock(mutex_);
    const auto is_it = [&](const Entry& entry) { return entry.kind == kind && entry.text == text && entry.end == end; };
    if (const auto it = std::ranges::find_if(entries_, is_it); it != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, it);
      return it->grammar;
    }
  }
  Result<GrammarPtr> grammar = GrammarCompiler::shared().compile(text.size(), [&] { return make(kind, text, end); });
  if (!grammar) return grammar;
  const std::scoped_lock lock(mutex_);
  entries_.push_front({.kind = kind, .text = text, .end = end, .grammar = *grammar});
  if (entries_.size() > kMostGrammars) entries_.pop_back();
  return grammar;
}

std::optional<Json> in_any_order(Fields& fields, const Json& schema) {
  bool any_order = false;
  fields.read("any_order", any_order);
  if (!any_order || !schema.is_object()) return std::nullopt;
  Json unordered = schema;
  unordered["$anyOrder"] = true;
  return std::make_optional(std::move(unordered));
}

ApiResult<GrammarPtr> read_response_format(Fields& fields, GrammarCache& grammars) {
  fields.refuse(kOtherForms, "is not supported; response_format and grammar hold a reply to a form");
  Format format;
  std::string gbnf;
  fields.read("grammar", gbnf);
  if (const Json* schema = fields.find("json_schema")) {
    format = {.type = "json_schema", .schema = schema, .path = fields.path_of("json_schema")};
  }
  fields.within("response_format", [&](Fields& inner) {
    inner.read("type", format.type);
    if (!is_known(inner, format.type)) return;
    if (format.type == "json_schema") {
      if (!inner.find("json_schema")) return inner.fail("json_schema", "is missing");
      inner.within("json_schema", [&](Fields& holder) { read_schema(holder, format); });
    } else if (format.type == "json_object" && inner.find("schema")) {
      read_schema(inner, format);  // as in llama.cpp's server
    }
  });
  if (!gbnf.empty() && (format.schema || format.type != "text")) {
    fields.fail("grammar", "and another format are given; one of them is possible");
  }
  TRY_STATUS(fields.check());
  if (!gbnf.empty()) return grammars.get(GrammarCache::Kind::kGbnf, gbnf, fields.path_of("grammar"));
  return grammar_of(fields, format, grammars);
}

ApiResult<GrammarPtr> read_text_format(Fields& fields, GrammarCache& grammars) {
  fields.refuse(kOtherForms, "is not supported; text.format holds a reply to a form");
  Format format;
  fields.within("text", [&](Fields& text) {
    text.within("format", [&](Fields& inner) {
      inner.read("type", format.type);
      if (is_known(inner, format.type) && format.type == "json_schema") read_schema(inner, format);
    });
  });
  TRY_STATUS(fields.check());
  return grammar_of(fields, format, grammars);
}

}  // namespace tern::server
