// Rules for numbers within bounds, digit by digit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "grammar/rules/rules.h"
#include "grammar/schema/json_value.h"

namespace tern::grammar {

struct NumberBounds {
  struct Bound {
    Decimal value;
    bool is_inside;  // true if the bound itself is allowed
  };
  std::optional<Bound> low, high;
  uint32_t multiple_of = 1;  // a whole number
  bool is_integer = false;

  bool any() const { return low || high || multiple_of != 1; }
  // The stricter bound counts.
  void add_low(const Bound& bound);
  void add_high(const Bound& bound);
};

// Writes a number as part of a rule that begins at `from`. Returns the state after it, which is unreachable if no
// number is possible. Numbers have no exponent and at most 15 digits, so their order is the same as that of the doubles
// that parsers make of them. Whole numbers may have 18 digits if the bounds have more than 15. kNotSupported: bounds
// with more than 15 digits (whole numbers: 18), or far from 1.
Result<StateId> add_number(RuleWriter& rules, StateId from, const NumberBounds& bounds);

}  // namespace tern::grammar
