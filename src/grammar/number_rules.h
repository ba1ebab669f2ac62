// Numbers within bounds, digit by digit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "grammar/json_value.h"
#include "grammar/rules.h"

namespace tern::grammar {

struct NumberBounds {
  struct Bound {
    Decimal value;
    bool is_inside;  // whether it may be the bound itself
  };
  std::optional<Bound> low, high;
  uint32_t multiple_of = 1;  // a whole number
  bool is_integer = false;

  bool any() const { return low || high || multiple_of != 1; }
  // Both must hold.
  void add_low(const Bound& bound);
  void add_high(const Bound& bound);
};

// A part of a rule, from `from` to the state that is returned, which is never reached where no number is possible.
// Numbers are written without exponent and have at most 15 digits, so that their order is the same as that of the
// doubles that readers make of them; whole numbers may have 18 where the bounds are beyond 15.
// kNotSupported: bounds with more than 15 digits (whole numbers: 18), or far from 1.
Result<StateId> add_number(RuleWriter& rules, StateId from, const NumberBounds& bounds);

}  // namespace tern::grammar
