// Values that a schema allows, in other notations than JSON.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "grammar/schema/call_rules.h"

namespace tern::grammar {

enum class Notation : uint8_t {
  kText,    // a string is written as it is, up to the mark behind it; all else is JSON
  kPython,  // JSON, or Python's spelling of strings in single quotes, True, False and None
  kGemma,   // strings are between <|"|>, keys without quotes; all else is like JSON
};

// The texts around keys and values; see tern::MarkedCalls.
struct PairMarks {
  Notation notation;
  std::string_view key_begin, key_end, key_end_other, value_end, between;
  bool sorts = false;  // by their names
};

class NotatedValues {
 public:
  // Schemas that only name types: all but strings; booleans and numbers. They are parts of the document.
  struct Types {
    const JsonValue *unquoted, *scalar;
  };
  NotatedValues(SchemaRules& parts, Types types) : parts_(parts), rules_(parts.rules), types_(types) {}

  // The members of the objects that all terms allow. Returns the state after them.
  Result<StateId> add_object(StateId from, const Terms& terms, const PairMarks& marks);

  // The same for flat terms without alternatives, in the schema's order.
  Result<StateId> add_pairs(StateId from, const Terms& terms, const PairMarks& marks);

  // Writes the rules that the pairs need.
  Result<void> finish();

 private:
  struct Place {
    Notation notation;
    std::string stop;    // a string ends before this text
    bool sorts = false;  // members of objects
    bool operator==(const Place&) const = default;
    auto operator<=>(const Place&) const = default;
  };

  Result<StateId> add_pair(StateId from, std::string_view key, const Terms& value, const PairMarks& marks);
  Result<StateId> add_other_pair(StateId from, const Terms& value, const PairMarks& marks);
  Result<StateId> add_value(StateId from, const Terms& value, const PairMarks& marks);
  // The rule for what all terms allow. Its contents are written later.
  Result<RuleId> rule_of(const Terms& terms, const Place& place);
  Result<void> write_rule(const Terms& terms, const Place& place, RuleId rule);
  Result<void> write_types(const Terms& terms, const Place& place, StateId start, StateId end);
  Result<void> write_literals(const Terms& terms, Notation notation, uint8_t types, StateId start, StateId end);
  Result<std::optional<StateId>> write_list(const Terms& terms, Notation notation, StateId start);
  Result<StateId> add_string(StateId from, const Terms& terms, const Place& place);
  StateId add_literal(StateId from, const JsonValue& value, const Place& place);
  Result<bool> splits(const Terms& terms, const Place& place, StateId start, StateId end);
  Result<bool> may_be_string(const Terms& terms, bool only);

  SchemaRules& parts_;
  RuleWriter& rules_;
  Types types_;
  struct Job {
    Terms terms;
    Place place;
    RuleId rule;
  };
  std::map<std::pair<Terms, Place>, RuleId> known_;
  std::deque<Job> to_do_;
};

}  // namespace tern::grammar
