// Rules for numbers within bounds, digit by digit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grammar/rules/rules.h"
#include "grammar/schema/json_value.h"

namespace tern::grammar {

// times · 10^-places.
struct Multiple {
  uint32_t times = 1;
  int places = 0;
  static constexpr uint32_t kMaxTimes = 2000;
  static constexpr int kMaxPlaces = 12;
  static constexpr const char* kRange =
      "a reply can be held to multiples of N / 10^K, with N up to 2000 and K up to 12";

  static std::optional<Multiple> of(const Decimal& number);  // nullopt: out of kRange
  // A number that is a multiple of both, and of which all such numbers are multiples; nullopt: out of kRange.
  static std::optional<Multiple> common(const Multiple& a, const Multiple& b);
  bool divides(const Decimal& number) const;
};

struct NumberBounds {
  struct Bound {
    Decimal value;
    bool is_inside;  // true if the bound itself is allowed
  };
  std::optional<Bound> low = {}, high = {};
  std::optional<Multiple> multiple = {};
  std::vector<Multiple> no_multiples = {};
  bool is_impossible = false;  // its multiples are too many to count

  bool any() const { return low || high || multiple || !no_multiples.empty(); }
  // The stricter bound counts.
  void add_low(const Bound& bound);
  void add_high(const Bound& bound);
  void meet(const NumberBounds& other);
  bool holds(const Decimal& number) const;
  bool is_empty() const;  // true if it is certain
};

// Writes a number as part of a rule that begins at `from`. Returns the state after it, which is unreachable if no
// number is possible. Numbers have no exponent and at most 15 digits, so their order is the same as that of the doubles
// that parsers make of them. Whole numbers may have 18 digits if the bounds have more than 15. kNotSupported: bounds
// far from 1, or multiples that are out of Multiple::kRange together.
Result<StateId> add_number(RuleWriter& rules, StateId from, const NumberBounds& bounds);

}  // namespace tern::grammar
