// SchemaReader::allows: checks a given value against clauses.
#include <algorithm>

#include "grammar/rules/utf8_chars.h"
#include "grammar/schema/clauses.h"

namespace tern::grammar {
namespace {

constexpr int kMaxValueDepth = 300;            // of nested schemas, for one value
constexpr size_t kMaxComparisons = 2'000'000;  // of clauses with values

}  // namespace

Result<bool> SchemaReader::allows(const Clauses& clauses, const JsonValue& value, Reading reading) {
  for (const ClauseId id : clauses) {
    TRY(const Clause* own, clause(id));
    if (reading.depth > kMaxValueDepth)
      return refuse(*own->schema, "", "this nests too deep to be compared with a value");
    if (++work_ > kMaxComparisons) return refuse(*own->schema, "", "comparing values with schemas takes too long");
    TRY(const bool is_allowed, allows_own(*own, value, reading));
    if (!is_allowed) return false;
    for (const ClauseId one : own->all) {
      TRY(const bool holds, allows({one}, value, reading.deeper()));
      if (!holds) return false;
    }
    for (const Clauses& options : own->choices) {
      bool is_some = false;
      for (size_t i = 0; i < options.size() && !is_some; ++i) {
        TRY(is_some, allows({options[i]}, value, reading.deeper()));
      }
      if (!is_some) return false;
    }
  }
  return true;
}

Result<bool> SchemaReader::allows_alone(const Clauses& clauses, const JsonValue& value, Reading reading) {
  for (const ClauseId id : clauses) {
    if (++work_ > kMaxComparisons) return refuse(*at(id).schema, "", "comparing values with schemas takes too long");
    TRY(const bool is_allowed, allows_own(at(id), value, reading));
    if (!is_allowed) return false;
  }
  return true;
}

// Checks the clause's own conditions, without the clauses that it consists of.
Result<bool> SchemaReader::allows_own(const Clause& own, const JsonValue& value, Reading reading) {
  if ((own.types & type_of(value)) == 0) return false;
  const auto is_in = [&](const std::vector<const JsonValue*>& list, const std::string& text) {
    std::set<std::string>& texts = texts_of_[list];
    if (texts.empty()) {
      for (const JsonValue* one : list) texts.insert(canonical_text(*one));
    }
    return texts.contains(text);
  };
  if (!own.one_of_values.empty() || !own.no_values.empty()) {
    const std::string text = canonical_text(value);
    for (const auto& list : own.one_of_values) {
      if (!std::ranges::contains(list, &value) && !is_in(list, text)) return false;
    }
    if (!own.no_values.empty() && is_in(own.no_values, text)) return false;
  }
  switch (value.kind) {
    case JsonValue::kNumber: {
      TRY(const Decimal number, Decimal::of(value.text));
      return !own.bounds.is_impossible && own.bounds.holds(number);
    }
    case JsonValue::kString: {
      if (own.grammar) return refuse(*own.schema, "$lark", "a given text cannot be compared with a grammar");
      const std::u32string chars = chars_of(value.text);
      if (!own.length.holds(chars.size())) return false;
      for (const Clause::Text& text : own.texts) {
        TRY(const CharAutomaton* automaton, automaton_of(*own.schema, text, reading.is_wide != text.is_negated));
        if (automaton && automaton->takes(chars) == text.is_negated) return false;
      }
      return true;
    }
    case JsonValue::kArray:
      return allows_items(own, value, reading);
    case JsonValue::kObject:
      return allows_members(own, value, reading);
    default:
      return true;
  }
}

Result<bool> SchemaReader::allows_items(const Clause& own, const JsonValue& value, Reading reading) {
  if (!own.n_items.holds(value.items.size())) return false;
  if (own.unevaluated_items != kAnything)
    return refuse(*own.schema, "unevaluatedItems", "a list given by enum or const cannot be compared with this");
  if (own.is_unique) {
    std::set<std::string> known;
    for (const JsonValue& one : value.items) {
      if (!known.insert(canonical_text(one)).second) return false;
    }
  }
  for (size_t i = 0; i < value.items.size(); ++i) {
    const ClauseId asked = i < own.prefix.size() ? own.prefix[i] : own.items;
    TRY(const bool is_allowed, allows({asked}, value.items[i], reading.deeper()));
    if (!is_allowed) return false;
  }
  for (const Clause::Contained& contained : own.contains) {
    size_t n = 0;
    for (size_t i = contained.from; i < value.items.size(); ++i) {
      TRY(const bool is_one, allows({contained.item}, value.items[i], reading.deeper()));
      n += is_one ? 1 : 0;
    }
    if (!contained.times.holds(n)) return false;
  }
  return true;
}

Result<bool> SchemaReader::allows_members(const Clause& own, const JsonValue& value, Reading reading) {
  if (!own.n_properties.holds(value.items.size())) return false;
  if (own.unevaluated_properties != kAnything)
    return refuse(*own.schema, "unevaluatedProperties",
                  "an object given by enum or const cannot be compared with this");
  if (std::ranges::any_of(own.required, [&](std::string_view name) { return !value.find(name); })) return false;
  for (size_t i = 0; i < value.items.size(); ++i) {
    Clauses asked;
    TRY_STATUS(add_property(own, {.name = value.names[i]}, asked));
    TRY(const bool is_allowed, allows(asked, value.items[i], reading.deeper()));
    if (!is_allowed) return false;
    if (own.names == kAnything) continue;
    const JsonValue name = {.kind = JsonValue::kString, .text = value.names[i]};
    TRY(const bool is_name, allows({own.names}, name, reading.deeper()));
    if (!is_name) return false;
  }
  for (const Clause::OtherProperty& some : own.some) {
    bool is_some = false;
    for (size_t i = 0; i < value.items.size() && !is_some; ++i) {
      Clauses unused;
      TRY(const bool is_named, add_named(some.names, some.patterns, {.name = value.names[i]}, unused));
      if (is_named) continue;
      TRY(is_some, allows({some.value}, value.items[i], reading.deeper()));
    }
    if (!is_some) return false;
  }
  return true;
}

}  // namespace tern::grammar
