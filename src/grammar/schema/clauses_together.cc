// SchemaReader: what clauses that hold together say.
#include <algorithm>

#include "grammar/rules/utf8_chars.h"
#include "grammar/schema/clauses.h"

namespace tern::grammar {
namespace {

void meet(Clauses& out, ClauseId one) {
  if (one != kAnything && !std::ranges::contains(out, one)) out.push_back(one);
}

}  // namespace

uint8_t SchemaReader::types(const Clauses& clauses, bool meant) const {
  uint8_t bits = kAllTypes, about = 0;
  bool is_named = false;
  for (const ClauseId id : clauses) {
    bits &= at(id).types;
    about |= at(id).about;
    is_named |= at(id).names_type;
  }
  return meant && !is_named && about != 0 ? bits & about : bits;
}

NumberBounds SchemaReader::bounds(const Clauses& clauses) const {
  NumberBounds out;
  for (const ClauseId id : clauses) out.meet(at(id).bounds);
  return out;
}

Lengths SchemaReader::lengths(const Clauses& clauses, Lengths Clause::* which) const {
  Lengths out;
  for (const ClauseId id : clauses) out.meet(at(id).*which);
  return out;
}

bool SchemaReader::excludes(const Clauses& clauses, JsonValue::Kind kind) const {
  return std::ranges::any_of(clauses, [&](ClauseId id) {
    return std::ranges::contains(at(id).no_values, kind, [](const JsonValue* value) { return value->kind; });
  });
}

Result<std::optional<std::vector<const JsonValue*>>> SchemaReader::values(const Clauses& clauses) {
  const std::vector<const JsonValue*>* fewest = nullptr;
  for (const ClauseId id : clauses) {
    for (const auto& list : at(id).one_of_values) {
      if (!fewest || list.size() < fewest->size()) fewest = &list;
    }
  }
  if (!fewest) return std::nullopt;
  std::vector<const JsonValue*> allowed;
  for (const JsonValue* value : *fewest) {
    TRY(const bool is_allowed, allows_alone(clauses, *value));
    if (is_allowed) allowed.push_back(value);
  }
  return allowed;
}

Result<bool> SchemaReader::matches(const JsonValue& patterns, size_t index, const Names& names) {
  const std::string& text = patterns.names[index];
  if (!names.name) return names.patterns.contains(text);
  TRY(const CharAutomaton* automaton, pattern(patterns, text));
  return automaton->takes(chars_of(*names.name));
}

Result<bool> SchemaReader::add_named(const JsonValue* properties, const JsonValue* patterns, const Names& names,
                                     Clauses& out) {
  const JsonValue* value = properties && names.name ? properties->find(*names.name) : nullptr;
  if (value) meet(out, clause_of(*value));
  bool is_known = value != nullptr;
  for (size_t p = 0; patterns && p < patterns->names.size(); ++p) {
    TRY(const bool is_matched, matches(*patterns, p, names));
    if (is_matched) meet(out, clause_of(patterns->items[p]));
    is_known |= is_matched;
  }
  return is_known;
}

Result<void> SchemaReader::add_property(const Clause& own, const Names& names, Clauses& out) {
  TRY(const bool is_known, add_named(own.properties, own.patterns, names, out));
  if (!is_known) meet(out, own.other_properties);
  for (const auto& [name, clause] : own.more_properties) {
    if (name == names.name) meet(out, clause);
  }
  return {};
}

// The clauses for a property: those of its name, of the patterns that match, or else the one for others.
Result<Clauses> SchemaReader::property(const Clauses& clauses, const Names& names) {
  Clauses out;
  for (const ClauseId id : clauses) {
    const Clause& own = at(id);
    TRY_STATUS(add_property(own, names, out));
    if (own.unevaluated_properties == kAnything) continue;
    TRY(const bool is_evaluated, evaluates(id, clauses, names, /*is_top=*/true));
    if (!is_evaluated) meet(out, own.unevaluated_properties);
  }
  return out;
}

// True if a clause, or one of those that it consists of and that is known to hold, applies a schema to these
// properties. Opposites do not count.
Result<bool> SchemaReader::evaluates(ClauseId id, const Clauses& clauses, const Names& names, bool is_top) {
  const Clause& own = at(id);
  if (own.opposite) return false;
  if (own.says_others || (!is_top && own.unevaluated_properties != kAnything)) return true;
  Clauses unused;
  TRY(const bool is_known, add_named(own.properties, own.patterns, names, unused));
  if (is_known) return true;
  std::vector<const Clauses*> parts = {&own.all};
  for (const Clauses& options : own.choices) parts.push_back(&options);
  for (const Clauses* part : parts) {
    for (const ClauseId one : *part) {
      if (one == kAnything || !std::ranges::contains(clauses, one)) continue;
      TRY(const bool is_evaluated, evaluates(one, clauses, names, /*is_top=*/false));
      if (is_evaluated) return true;
    }
  }
  return false;
}

Clauses SchemaReader::item(const Clauses& clauses, size_t index) {
  Clauses out;
  for (const ClauseId id : clauses) {
    const Clause& own = at(id);
    meet(out, index < own.prefix.size() ? own.prefix[index] : own.items);
    if (own.unevaluated_items != kAnything && !evaluates_item(id, clauses, index, /*is_top=*/true))
      meet(out, own.unevaluated_items);
  }
  return out;
}

bool SchemaReader::evaluates_item(ClauseId id, const Clauses& clauses, size_t index, bool is_top) const {
  const Clause& own = at(id);
  if (own.opposite) return false;
  if (own.says_items || index < own.prefix.size() || (!is_top && own.unevaluated_items != kAnything)) return true;
  const auto is_evaluated = [&](ClauseId one) {
    return one != kAnything && std::ranges::contains(clauses, one) &&
           evaluates_item(one, clauses, index, /*is_top=*/false);
  };
  return std::ranges::any_of(own.all, is_evaluated) || std::ranges::any_of(own.choices, [&](const Clauses& options) {
           return std::ranges::any_of(options, is_evaluated);
         });
}

std::vector<std::string_view> SchemaReader::declared_properties(const Clauses& clauses) const {
  std::vector<std::string_view> out;
  std::set<std::string_view> known;
  const auto add_name = [&](std::string_view name) {
    if (known.insert(name).second) out.push_back(name);
  };
  for (const ClauseId id : clauses) {
    const Clause& own = at(id);
    for (size_t i = 0; own.properties && i < own.properties->names.size(); ++i) add_name(own.properties->names[i]);
  }
  for (const ClauseId id : clauses) {
    for (const std::string_view name : at(id).required) add_name(name);
    for (const auto& property : at(id).more_properties) add_name(property.name);
  }
  return out;
}

std::vector<std::string_view> SchemaReader::required(const Clauses& clauses) const {
  std::vector<std::string_view> out;
  for (const ClauseId id : clauses) out.insert(out.end(), at(id).required.begin(), at(id).required.end());
  std::ranges::sort(out);
  const auto repeated = std::ranges::unique(out);
  out.erase(repeated.begin(), repeated.end());
  return out;
}

}  // namespace tern::grammar
