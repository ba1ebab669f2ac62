#include "grammar/schema/number_rules.h"

#include <algorithm>
#include <unordered_map>

namespace tern::grammar {
namespace {

using Bound = NumberBounds::Bound;

constexpr int kExactDigits = 15;    // a double holds this many exactly
constexpr int kIntegerDigits = 18;  // 64 bits hold this many

bool is_below(const Decimal& a, const Decimal& b) { return Decimal::compare(a, b) < 0; }

// Writes numbers ≥ 0 between bounds that are not negative.
class MagnitudeWriter {
 public:
  MagnitudeWriter(RuleWriter& rules, const NumberBounds& bounds, StateId end)
      : rules_(rules),
        low_(*bounds.low),
        high_(*bounds.high),
        multiple_(bounds.multiple_of),
        is_integer_(bounds.is_integer),
        end_(end) {}

  // Writes numbers with `n_before` digits before the decimal point and at most `n_after` after it.
  void write(StateId from, int n_before, int n_after) {
    n_before_ = n_before;
    n_after_ = n_after;
    states_.clear();
    const bool low_is_longer = low_.value.exponent > n_before,
               high_is_shorter = std::max(high_.value.exponent, 1) < n_before;
    if (low_is_longer || high_is_shorter) return;
    const bool low_is_tight = std::max(low_.value.exponent, 1) == n_before;
    const bool high_is_tight = std::max(high_.value.exponent, 1) == n_before;
    rules_.add_empty(from, state_at(0, low_is_tight, high_is_tight, 0));
    while (!to_do_.empty()) {
      const Key key = to_do_.back();
      to_do_.pop_back();
      go_on(key);
    }
  }

 private:
  struct Key {
    int n;                             // digits so far
    bool low_is_tight, high_is_tight;  // true if the digits so far equal the bound's
    uint32_t remainder;
    StateId state;
  };

  StateId state_at(int n, bool low, bool high, uint32_t remainder) {
    const uint64_t key =
        (uint64_t{remainder} << 16) | (static_cast<uint64_t>(n) << 2) | (uint64_t{low} << 1) | uint64_t{high};
    const auto [found, is_new] = states_.try_emplace(key, 0);
    if (is_new) {
      found->second = rules_.new_state();
      to_do_.push_back({n, low, high, remainder, found->second});
    }
    return found->second;
  }

  // The place of digit n; the units digit has place 0.
  int place(int n) const { return n_before_ - 1 - n; }

  // True if the bound has more digits after the first n.
  bool has_more(const Decimal& bound, int n) const {
    const int used = std::max(n - (n_before_ - bound.exponent), 0);
    return used < static_cast<int>(bound.digits.size());
  }

  bool may_end(const Key& key) const {
    if (key.n < n_before_ || key.remainder != 0) return false;
    if (key.low_is_tight && (has_more(low_.value, key.n) || !low_.is_inside)) return false;
    return !key.high_is_tight || high_.is_inside || has_more(high_.value, key.n);
  }

  void go_on(const Key& key) {
    if (may_end(key)) rules_.add_empty(key.state, end_);
    const bool goes_on = key.n < n_before_ + (is_integer_ ? 0 : n_after_);
    if (!goes_on) return;
    StateId from = key.state;
    if (key.n == n_before_) from = rules_.add_text(from, ".");
    const int least = key.n == 0 && n_before_ > 1 ? 1 : 0;
    const int low = low_.value.digit(place(key.n)), high = high_.value.digit(place(key.n));
    int first = least;  // the first of the digits that lead to the same place
    for (int digit = least; digit <= 9; ++digit, first = digit) {
      if ((key.low_is_tight && digit < low) || (key.high_is_tight && digit > high)) continue;
      const uint32_t remainder = is_integer_ ? (key.remainder * 10 + static_cast<uint32_t>(digit)) % multiple_ : 0;
      const StateId to =
          state_at(key.n + 1, key.low_is_tight && digit == low, key.high_is_tight && digit == high, remainder);
      const bool is_free = !key.low_is_tight && !key.high_is_tight && (multiple_ == 1 || !is_integer_);
      if (is_free) digit = 9;
      rules_.add_bytes(from, static_cast<uint8_t>('0' + first), static_cast<uint8_t>('0' + digit), to);
    }
  }

  RuleWriter& rules_;
  Bound low_, high_;
  uint32_t multiple_;
  bool is_integer_;
  StateId end_;
  int n_before_ = 0, n_after_ = 0;
  std::unordered_map<uint64_t, StateId> states_;
  std::vector<Key> to_do_;
};

Decimal power_of_ten(int exponent) { return {.digits = "1", .exponent = exponent + 1}; }

Bound negated(Bound bound) {
  if (!bound.value.is_zero()) bound.value.is_negative = !bound.value.is_negative;
  return bound;
}

// A bound beyond all numbers that can be written is fine if it allows all of them, and an error if it allows none.
Result<void> check_bound(const std::optional<Bound>& bound, bool is_low, bool is_integer) {
  if (!bound) return {};
  const Decimal& value = bound->value;
  const int most = is_integer ? kIntegerDigits : kExactDigits;
  const int n_after = static_cast<int>(value.digits.size()) - value.exponent;
  const bool is_far = value.exponent > most, leaves_some = is_low == value.is_negative;
  const bool is_exact = is_integer || std::max(value.exponent, 0) + std::max(n_after, 0) <= most;
  if (is_far ? leaves_some : is_exact) return {};
  return fail(ErrorCode::kNotSupported, "a bound of more than {} digits", most);
}

}  // namespace

void NumberBounds::add_low(const Bound& bound) {
  const int order = low ? Decimal::compare(bound.value, low->value) : 1;
  if (order > 0 || (order == 0 && !bound.is_inside)) low = bound;
}

void NumberBounds::add_high(const Bound& bound) {
  const int order = high ? Decimal::compare(bound.value, high->value) : -1;
  if (order < 0 || (order == 0 && !bound.is_inside)) high = bound;
}

Result<StateId> add_number(RuleWriter& rules, StateId from, const NumberBounds& bounds) {
  const bool is_integer = bounds.is_integer || bounds.multiple_of != 1;
  TRY_STATUS(check_bound(bounds.low, /*is_low=*/true, is_integer));
  TRY_STATUS(check_bound(bounds.high, /*is_low=*/false, is_integer));
  const StateId end = rules.new_state();
  const Decimal zero;
  // Writes the numbers ≥ 0 or, for negative numbers, their magnitudes.
  const auto write_side = [&](StateId begin, std::optional<Bound> low, std::optional<Bound> high, bool zero_is_inside) {
    if (!low || is_below(low->value, zero) || (low->value.is_zero() && !zero_is_inside))
      low = Bound{zero, zero_is_inside};
    if (high && is_below(high->value, zero)) return;
    int n_digits = kExactDigits;
    if (is_integer && low->value.exponent > kExactDigits) n_digits = kIntegerDigits;
    if (!high || is_below(power_of_ten(n_digits), high->value)) high = Bound{power_of_ten(n_digits), false};
    const NumberBounds side = {.low = low, .high = high, .multiple_of = bounds.multiple_of, .is_integer = is_integer};
    MagnitudeWriter writer(rules, side, end);
    for (int n_before = 1; n_before <= n_digits; ++n_before) writer.write(begin, n_before, kExactDigits - n_before);
  };
  const auto flipped = [](const std::optional<Bound>& bound) {
    return bound ? std::optional(negated(*bound)) : std::nullopt;
  };
  write_side(from, bounds.low, bounds.high, /*zero_is_inside=*/true);
  write_side(rules.add_text(from, "-"), flipped(bounds.high), flipped(bounds.low), /*zero_is_inside=*/false);
  return end;
}

}  // namespace tern::grammar
