#include "grammar/schema/schema_exclusive.h"

#include <algorithm>

namespace tern::grammar {
namespace {

constexpr int kMaxComparedDepth = 5;

bool has_choice(const Terms& terms) {
  return std::ranges::any_of(terms, [](const Term& term) {
    const auto chooses = [&](const char* keyword, uint8_t bit) {
      return (term.without & bit) == 0 && term.schema->find(keyword);
    };
    return chooses("anyOf", Term::kAnyOf) || chooses("oneOf", Term::kOneOf);
  });
}

// The possible types, named or implied. A schema that names none allows all.
uint8_t possible_types(const Terms& terms, Result<uint8_t> meant) {
  const auto names_type = [](const Term& term) {
    return term.schema->kind == JsonValue::kFalse || term.schema->find("type");
  };
  return meant && std::ranges::any_of(terms, names_type) ? *meant : static_cast<uint8_t>(kAllTypes);
}

Result<bool> excludes_objects(SchemaReader& reader, const Terms& said, const Terms& other, int depth) {
  const auto mine = reader.required(said), its = reader.required(other);
  const auto is_declared = [&](const Terms& terms, const std::string& name) {
    bool declared = false;
    reader.property(terms, name, &declared);
    return declared || std::ranges::contains(reader.required(terms), name);
  };
  const bool says_others = has_choice(said) || reader.asks_for_others(said) || reader.declared_properties(said).empty();
  if (!says_others || reader.forbids_others(said)) {
    for (const std::string& name : its) {
      if (!is_declared(said, name)) return true;
    }
  }
  for (const Term& term : other) {
    if (!reader.forbids_others({term})) continue;
    for (const std::string& name : mine) {
      bool declared = false;
      reader.property({term}, name, &declared);
      if (!declared) return true;
    }
  }
  std::vector<std::string> either = mine;
  either.insert(either.end(), its.begin(), its.end());
  for (const std::string& name : either) {
    TRY(const bool is_excluded, excludes(reader, reader.property(said, name), reader.property(other, name), depth + 1));
    if (is_excluded) return true;
  }
  return false;
}

}  // namespace

Result<bool> excludes(SchemaReader& reader, const Terms& said, const Terms& other, int depth) {
  if (depth > kMaxComparedDepth) return false;
  TRY(const Terms a, reader.flatten(said));
  TRY(const Terms b, reader.flatten(other));
  TRY(const auto values, reader.values(a));
  if (values) {
    for (const JsonValue* value : *values) {
      TRY(const bool is_allowed, reader.allows(b, *value));
      if (is_allowed) return false;
    }
    return true;
  }
  TRY(const auto other_values, reader.values(b));
  if (other_values) {
    for (const JsonValue* value : *other_values) {
      TRY(const bool is_allowed, reader.allows(a, *value));
      if (is_allowed) return false;
    }
    return true;
  }
  const uint8_t common = static_cast<uint8_t>(reader.types(a).value_or(kAllTypes) & possible_types(b, reader.types(b)));
  if (common == 0) return true;
  if (common == kObjectType) return excludes_objects(reader, a, b, depth);
  return false;
}

Result<void> check_exclusive(SchemaReader& reader, const JsonValue& schema, std::span<const Terms> said,
                             const JsonValue& branches) {
  constexpr size_t kMost = 100;
  if (said.size() > kMost)
    return reader.refuse(schema, "oneOf", format_text("more than {} branches; anyOf may have more", kMost));
  for (size_t i = 0; i < said.size(); ++i) {
    for (size_t j = 0; j < said.size(); ++j) {
      if (i == j) continue;
      TRY(const bool is_sure, excludes(reader, said[i], {{&branches.items[j]}}));
      if (!is_sure) {
        return reader.refuse(schema, "oneOf",
                             format_text("a value may be allowed by both branches {} and {}: write anyOf, or give "
                                         "each a required property with a const of its own",
                                         std::min(i, j), std::max(i, j)));
      }
    }
  }
  return {};
}

}  // namespace tern::grammar
