// Writes the rules for clauses: the documents that a schema allows.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "grammar/schema/alternatives.h"
#include "grammar/schema/call_rules.h"
#include "grammar/schema/clauses.h"
#include "grammar/schema/json_rules.h"

namespace tern::grammar {

class SchemaWriter {
 public:
  explicit SchemaWriter(const JsonValue& root) : root_(root), reader_(root), alternatives_(reader_), json_(rules_) {}

  // With `end`, white space may come before the document, and white space and `end` follow it.
  Result<Rules> write(std::optional<std::string_view> end = {});
  // The rule that `make` writes, with those that it needs.
  Result<Rules> write_with(const MakeRoot& make);

 private:
  Result<Rules> write_from(RuleId root);
  RuleId before(RuleId rule, std::string_view end);

  // The rule for what all clauses allow. Its contents are written later.
  RuleId rule_of(const Clauses& clauses);
  RuleId later(const Clauses& clauses, bool is_settled);
  Result<void> write_rule(const Clauses& clauses, RuleId rule);
  // These write what settled clauses, those without choices, allow from `start` to `end`.
  Result<void> write_types(const Clauses& clauses, StateId start, StateId end);
  Result<void> write_number(const Clauses& clauses, bool is_integer, bool is_fraction, StateId start, StateId end);
  Result<RuleId> string_rule(const Clauses& clauses);
  Result<RuleId> grammar_rule(const Clauses& clauses, const JsonValue& grammar);
  Result<void> write_string(const Clauses& clauses, StateId start, StateId end);
  Result<void> write_array(const Clauses& clauses, StateId start, StateId end);
  Result<void> write_object(const Clauses& clauses, StateId start, StateId end);

  void write_values(std::span<const JsonValue* const> values, StateId start, StateId end);
  StateId write_value(StateId from, const JsonValue& value);
  // nullopt: more than `most`, or not only values of enum, const, true, false and null.
  Result<std::optional<std::vector<const JsonValue*>>> finite_values(const Clauses& clauses, size_t most);

  friend class ObjectWriter;
  friend class ArrayWriter;

  const JsonValue& root_;
  SchemaReader reader_;
  Alternatives alternatives_;
  RuleWriter rules_;
  JsonRules json_;
  std::map<std::pair<Clauses, bool>, RuleId> known_;  // true: without choices
  std::map<std::string, RuleId> strings_, names_;     // by what they allow
  struct Work {
    Clauses clauses;
    bool is_settled;
    RuleId rule;
  };
  std::deque<Work> to_do_;
};

}  // namespace tern::grammar
