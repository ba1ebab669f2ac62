// Values that a schema allows, in other notations than JSON.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/schema/call_rules.h"

namespace tern::grammar {

enum class Notation : uint8_t {
  kText,      // a string is written as it is, up to the mark behind it; all else is JSON
  kPython,    // JSON, or Python's spelling of strings in single quotes, True, False and None
  kGemma,     // strings are between <|"|>, keys without quotes; all else is like JSON
  kElements,  // strings are written as they are; lists and objects are pairs again
};

// The characters of ids, and of names that a schema does not give.
const CharSet& name_chars();

// The texts around keys and values; see tern::MarkedCalls.
struct PairMarks {
  Notation notation;
  std::string_view key_begin, key_end, key_end_other, value_end, between;
  bool sorts = false;  // by their names
  std::string_view type_end = {}, text_begin = {}, text_end = {};
  std::string_view value_end_name = {}, item = {};
  bool has_some = false;            // at least one pair is there
  std::string_view not_named = {};  // a name that no member has
};

class NotatedValues {
 public:
  explicit NotatedValues(SchemaRules& parts) : parts_(parts), reader_(parts.reader), rules_(parts.rules) {}

  // The members of the objects that all clauses allow. Returns the state after them.
  Result<StateId> add_object(StateId from, const Clauses& clauses, const PairMarks& marks);

  // The same for settled clauses, those without choices, in the schema's order.
  Result<StateId> add_pairs(StateId from, const Clauses& clauses, const PairMarks& marks);

  // Writes the rules that the pairs need.
  Result<void> finish();

 private:
  struct Place {
    Notation notation;
    std::string stop;    // a string ends before this text
    bool sorts = false;  // members of objects
    std::string text_begin = {}, text_end = {};
    uint8_t types = 0;  // for elements: those that the schema allows, meant or not
    bool operator==(const Place&) const = default;
    auto operator<=>(const Place&) const = default;
  };

  Result<StateId> add_unordered(StateId from, const Clauses& clauses, const std::vector<std::string_view>& names,
                                bool is_open, const PairMarks& marks);
  Result<StateId> add_pair(StateId from, std::string_view key, const Clauses& value, const PairMarks& marks);
  Result<StateId> add_other_pair(StateId from, const Clauses& clauses, const Clauses& value, const PairMarks& marks);
  Result<StateId> add_value(StateId from, const Clauses& value, const PairMarks& marks);
  // The rule for what all clauses allow. Its contents are written later.
  RuleId rule_of(const Clauses& clauses, const Place& place);
  Result<void> write_rule(const Clauses& clauses, const Place& place, RuleId rule);
  // These are about settled clauses.
  Result<void> write_types(const Clauses& clauses, const Place& place, StateId start, StateId end);
  Result<void> write_literals(const Clauses& clauses, Notation notation, uint8_t types, StateId start, StateId end);
  Result<void> write_members(const Clauses& clauses, Notation notation, StateId start, StateId end);
  Result<std::optional<StateId>> write_list(const Clauses& clauses, Notation notation, StateId start);
  Result<void> write_elements(const Clauses& clauses, const Place& place, StateId start, StateId end);
  Result<void> write_items(const Clauses& clauses, const Place& place, StateId start, StateId end);
  Result<StateId> add_item(StateId from, const Clauses& item, const Place& place);
  Result<StateId> add_string(StateId from, const Clauses& clauses, const Place& place);
  Result<StateId> add_grammar(StateId from, const Clauses& clauses, const JsonValue& grammar, const Place& place);
  StateId add_literal(StateId from, const JsonValue& value, const Place& place);
  StateId add_plain_literal(StateId from, std::string_view text, const Place& place);
  // The types of settled clauses' values.
  Result<uint8_t> types_in(const Clauses& clauses, bool meant = true);
  Result<StateId> add_typed_value(StateId from, const Clauses& value, const Place& place, std::string_view type_end);
  Clauses with_types(const Clauses& clauses, uint8_t types);
  // Why the members or items cannot be enforced in this form of calls; empty: they can.
  std::string_view hard_members(const Clauses& clauses) const;
  bool has_hard_items(const Clauses& clauses) const;

  SchemaRules& parts_;
  SchemaReader& reader_;
  RuleWriter& rules_;
  struct Job {
    Clauses clauses;
    Place place;
    RuleId rule;
  };
  PairMarks element_marks_ = {};  // of the arguments
  std::map<std::pair<Clauses, Place>, RuleId> known_;
  std::deque<Job> to_do_;
};

}  // namespace tern::grammar
