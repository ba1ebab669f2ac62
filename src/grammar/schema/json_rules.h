// Rules for the parts of JSON that a schema does not restrict. Each is written when it is first needed.
#pragma once

#include <optional>

#include "grammar/rules/rules.h"

namespace tern::grammar {

class JsonRules {
 public:
  explicit JsonRules(RuleWriter& rules) : rules_(rules) {}

  // White space, limited so that a reply cannot consist of it: nothing, one space, or a line break and up to kMaxIndent
  // spaces or kMaxTabs tabs.
  static constexpr int kMaxIndent = 32, kMaxTabs = 8;
  RuleId space();
  // Any character of a string, or its escape. A lone surrogate is not allowed.
  RuleId character();
  RuleId string();
  // Numbers have limited length: 18 digits, as many in the fraction, and two in the exponent.
  RuleId integer();
  RuleId number();
  RuleId value();
  RuleId object();
  RuleId array();
  RuleId boolean();
  RuleId null();

  // Each adds a call of a rule at `from` and returns the state after it.
  StateId add_space(StateId from) { return add(from, space()); }
  StateId add(StateId from, RuleId rule);
  StateId add_colon(StateId from);  // with an optional space

 private:
  // Returns the rule in `known`. The first call writes it with `write(start)`, which returns its end.
  template <class Write>
  RuleId once(std::optional<RuleId>& known, const char* name, const Write& write);
  StateId add_digits(StateId from, int low, int high);
  StateId add_whole(StateId from);
  RuleId list(std::optional<RuleId>& known, const char* name, bool is_object);

  RuleWriter& rules_;
  std::optional<RuleId> space_, character_, string_, integer_, number_, value_, object_, array_, boolean_, null_;
};

}  // namespace tern::grammar
