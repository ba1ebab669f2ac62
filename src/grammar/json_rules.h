// The parts of JSON that no schema says anything about, as rules; each is written when it is first asked for.
#pragma once

#include <optional>

#include "grammar/rules.h"

namespace tern::grammar {

class JsonRules {
 public:
  explicit JsonRules(RuleWriter& rules) : rules_(rules) {}

  // White space, of bounded length so that no reply is made of it: nothing, a space, or a line break and up to
  // kMaxIndent spaces or kMaxTabs tabs.
  static constexpr int kMaxIndent = 32, kMaxTabs = 8;
  RuleId space();
  // Any character of a string, or its escape; half of a surrogate pair is none.
  RuleId character();
  RuleId string();
  // Of bounded length: 18 digits, for fractions as many again, and an exponent of two.
  RuleId integer();
  RuleId number();
  RuleId value();
  RuleId object();
  RuleId array();
  RuleId boolean();
  RuleId null();

  // Calls space() and others where `from` is; return the state behind it.
  StateId add_space(StateId from) { return add(from, space()); }
  StateId add(StateId from, RuleId rule);
  StateId add_colon(StateId from);  // and perhaps a space

 private:
  // The rule kept in `known`, written by `write(start)`, which returns its end.
  template <class Write>
  RuleId once(std::optional<RuleId>& known, const char* name, const Write& write);
  StateId add_digits(StateId from, int low, int high);
  StateId add_whole(StateId from);
  RuleId list(std::optional<RuleId>& known, const char* name, bool is_object);

  RuleWriter& rules_;
  std::optional<RuleId> space_, character_, string_, integer_, number_, value_, object_, array_, boolean_, null_;
};

}  // namespace tern::grammar
