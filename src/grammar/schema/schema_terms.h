// JSON Schema as a list of conditions that must all hold, with references resolved and allOf taken apart.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "grammar/rules/char_automaton.h"
#include "grammar/schema/json_value.h"
#include "grammar/schema/number_rules.h"

namespace tern::grammar {

// A schema, minus those alternatives from which a branch was already chosen.
struct Term {
  const JsonValue* schema;
  uint8_t without = 0;  // bits kAnyOf, kOneOf that are already handled
  static constexpr uint8_t kAnyOf = 1, kOneOf = 2;
  bool operator==(const Term&) const = default;
  auto operator<=>(const Term& other) const {
    return std::pair(schema->number, without) <=> std::pair(other.schema->number, other.without);
  }
};

// Terms that must all hold, in document order, each schema once.
using Terms = std::vector<Term>;

// The types of JSON values, as bits; an integer is also a number.
enum TypeBit : uint8_t {
  kNullType = 1,
  kBooleanType = 2,
  kIntegerType = 4,
  kFractionType = 8,  // numbers that are not integers
  kStringType = 16,
  kArrayType = 32,
  kObjectType = 64,
  kAllTypes = 127,
};
uint8_t type_of(const JsonValue& value);

// Limits on the length of strings, the items of arrays, or the properties of objects.
struct Lengths {
  size_t low = 0;
  std::optional<size_t> high;
};

class SchemaReader {
 public:
  // `root` must outlive this object.
  explicit SchemaReader(const JsonValue& root) : root_(root) {}

  // The error for `schema`, or for its member `keyword`.
  std::unexpected<Error> refuse(const JsonValue& schema, std::string_view keyword, std::string_view why) const;

  // Follows $ref and allOf. A schema `true` restricts nothing and is dropped; `false` stays. Checks all keywords:
  // kNotSupported: an unknown keyword; kInvalidArgument: a value that the keyword cannot have.
  Result<Terms> flatten(const Terms& terms);

  // The conditions of flat terms together. If no term names a type, types() returns those that its keywords apply to.
  Result<uint8_t> types(const Terms& terms) const;
  Result<NumberBounds> bounds(const Terms& terms) const;
  Result<Lengths> lengths(const Terms& terms, std::string_view least, std::string_view most) const;
  // The patterns and formats together; nullopt: there are none.
  Result<std::optional<CharAutomaton>> texts(const Terms& terms);
  // The values of enum and const that all terms allow; nullopt: no term has enum or const.
  Result<std::optional<std::vector<const JsonValue*>>> values(const Terms& terms);

  // True if the terms, flat or not, allow a value.
  Result<bool> allows(const Terms& terms, const JsonValue& value, int depth = 0);

  // The conditions of all terms for a property, or for the item at an index. `declared`: true if some term names it.
  Terms property(const Terms& terms, std::string_view name, bool* declared = nullptr) const;
  Terms item(const Terms& terms, size_t index, bool* declared = nullptr) const;
  std::vector<std::string> required(const Terms& terms) const;
  std::vector<std::string> declared_properties(const Terms& terms) const;
  bool forbids_others(const Terms& terms) const;  // properties that no term names
  bool asks_for_others(const Terms& terms) const;

 private:
  struct InOrder {
    bool operator()(const JsonValue* a, const JsonValue* b) const { return a->number < b->number; }
  };
  using Found = std::map<const JsonValue*, uint8_t, InOrder>;  // the value: Term::without
  Result<void> add(const Term& term, Found& found, std::vector<const JsonValue*>& open);
  Result<void> check_keywords(const JsonValue& schema);
  Result<bool> allows_own(const Term& term, const JsonValue& value, int depth);
  Result<bool> allows_number(const Terms& own, const JsonValue& value) const;
  Result<bool> allows_string(const Terms& own, const JsonValue& value);
  Result<bool> allows_items(const Terms& own, const JsonValue& value, int depth);
  Result<bool> allows_some(const Term& term, const JsonValue& value, int depth);
  Result<const CharAutomaton*> automaton_of(const JsonValue& schema, std::string_view keyword);

  const JsonValue& root_;
  std::map<const JsonValue*, CharAutomaton> automata_;  // by the value of `pattern` or `format`
  std::map<const JsonValue*, bool> is_checked_;
  std::map<const JsonValue*, std::set<std::string>> enum_texts_;  // canonical texts of an enum's list
  size_t work_ = 0;
};

}  // namespace tern::grammar
