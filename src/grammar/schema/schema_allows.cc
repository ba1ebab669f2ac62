// SchemaReader::allows: checks a given value against a schema.
#include <algorithm>

#include "grammar/rules/utf8_chars.h"
#include "grammar/schema/schema_terms.h"

namespace tern::grammar {
namespace {

using Kind = JsonValue::Kind;

constexpr int kMaxValueDepth = 300;  // of nested schemas, for one value

std::u32string chars_of(std::string_view text) {
  std::u32string out;
  while (const auto c = take_char(text)) out += *c;
  return out;
}

bool is_within(size_t n, const Lengths& lengths) { return n >= lengths.low && (!lengths.high || n <= *lengths.high); }

}  // namespace

Result<bool> SchemaReader::allows(const Terms& terms, const JsonValue& value, int depth) {
  if (depth > kMaxValueDepth) return refuse(*terms[0].schema, "", "this nests too deep to be compared with a value");
  TRY(const Terms flat, flatten(terms));
  for (const Term& term : flat) {
    if (term.schema->kind == Kind::kFalse) return false;
    TRY(const bool is_allowed, allows_own(term, value, depth));
    if (!is_allowed) return false;
  }
  return true;
}

// Checks the schema's own keywords, all except $ref and allOf.
Result<bool> SchemaReader::allows_own(const Term& term, const JsonValue& value, int depth) {
  const JsonValue& schema = *term.schema;
  const Terms own = {term};
  if (schema.find("type")) {
    TRY(const uint8_t bits, types(own));
    if ((bits & type_of(value)) == 0) return false;
  }
  if (const JsonValue* only = schema.find("const"); only && canonical_text(*only) != canonical_text(value)) {
    return false;
  }
  if (const JsonValue* list = schema.find("enum")) {
    std::set<std::string>& texts = enum_texts_[list];
    if (texts.empty()) {
      for (const JsonValue& one : list->items) texts.insert(canonical_text(one));
    }
    if (!texts.contains(canonical_text(value))) return false;
  }
  TRY(const bool is_some, allows_some(term, value, depth));
  if (!is_some) return false;
  if (value.kind == Kind::kNumber) return allows_number(own, value);
  if (value.kind == Kind::kString) return allows_string(own, value);
  if (value.kind == Kind::kArray || value.kind == Kind::kObject) return allows_items(own, value, depth);
  return true;
}

Result<bool> SchemaReader::allows_some(const Term& term, const JsonValue& value, int depth) {
  for (const auto& [keyword, bit] : {std::pair("anyOf", Term::kAnyOf), std::pair("oneOf", Term::kOneOf)}) {
    const JsonValue* branches = (term.without & bit) != 0 ? nullptr : term.schema->find(keyword);
    if (!branches) continue;
    int n_allowed = 0;
    for (const JsonValue& branch : branches->items) {
      TRY(const bool is_allowed, allows({{&branch}}, value, depth + 1));
      n_allowed += is_allowed ? 1 : 0;
    }
    if (n_allowed == 0 || (bit == Term::kOneOf && n_allowed > 1)) return false;
  }
  return true;
}

Result<bool> SchemaReader::allows_number(const Terms& own, const JsonValue& value) const {
  TRY(const Decimal number, Decimal::of(value.text));
  TRY(const NumberBounds limits, bounds(own));
  if (limits.low) {
    const int order = Decimal::compare(number, limits.low->value);
    if (order < 0 || (order == 0 && !limits.low->is_inside)) return false;
  }
  if (limits.high) {
    const int order = Decimal::compare(number, limits.high->value);
    if (order > 0 || (order == 0 && !limits.high->is_inside)) return false;
  }
  if (limits.multiple_of == 1 && !own[0].schema->find("multipleOf")) return true;
  if (!number.is_integer()) return false;
  uint32_t remainder = 0;
  for (int place = number.exponent - 1; place >= 0; --place) {
    remainder = (remainder * 10 + static_cast<uint32_t>(number.digit(place))) % limits.multiple_of;
  }
  return remainder == 0;
}

Result<bool> SchemaReader::allows_string(const Terms& own, const JsonValue& value) {
  const std::u32string chars = chars_of(value.text);
  TRY(const Lengths limits, lengths(own, "minLength", "maxLength"));
  TRY(const auto automaton, texts(own));
  return is_within(chars.size(), limits) && (!automaton || automaton->takes(chars));
}

Result<bool> SchemaReader::allows_items(const Terms& own, const JsonValue& value, int depth) {
  const bool is_object = value.kind == Kind::kObject;
  TRY(const Lengths limits,
      is_object ? lengths(own, "minProperties", "maxProperties") : lengths(own, "minItems", "maxItems"));
  if (!is_within(value.items.size(), limits)) return false;
  if (is_object) {
    const auto is_missing = [&](const std::string& name) { return !value.find(name); };
    if (std::ranges::any_of(required(own), is_missing)) return false;
  }
  for (size_t i = 0; i < value.items.size(); ++i) {
    const Terms asked = is_object ? property(own, value.names[i]) : item(own, i);
    TRY(const bool is_allowed, allows(asked, value.items[i], depth + 1));
    if (!is_allowed) return false;
  }
  return true;
}

}  // namespace tern::grammar
