#include "grammar/schema/number_rules.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace tern::grammar {
namespace {

using Bound = NumberBounds::Bound;

constexpr int kExactDigits = 15;    // a double holds this many exactly
constexpr int kIntegerDigits = 18;  // 64 bits hold this many

bool is_below(const Decimal& a, const Decimal& b) { return Decimal::compare(a, b) < 0; }

uint64_t power(int exponent) {
  uint64_t out = 1;
  while (exponent-- > 0) out *= 10;
  return out;
}

// What the digits of a number tell about its multiples: the remainder of the whole number that they make.
struct Remainders {
  uint32_t modulus = 1;
  int places = 0;  // digits behind the decimal point that count
  std::optional<Multiple> multiple = {}, no_multiple = {};

  // True if a number may end after `n_after` digits behind the decimal point. `rest`: a later digit is not 0.
  bool may_end(uint32_t remainder, int n_after, bool rest) const {
    for (int i = n_after; i < places; ++i) remainder = remainder * 10 % modulus;
    const auto divides = [&](const Multiple& one) {
      return !rest && remainder % (one.times * power(places - one.places)) == 0;
    };
    return (!multiple || divides(*multiple)) && (!no_multiple || !divides(*no_multiple));
  }
};

// Writes numbers ≥ 0 between bounds that are not negative.
class MagnitudeWriter {
 public:
  MagnitudeWriter(RuleWriter& rules, const Bound& low, const Bound& high, const Remainders& remainders, StateId end)
      : rules_(rules), low_(low), high_(high), remainders_(remainders), end_(end) {}

  // Writes numbers with `n_before` digits before the decimal point and at most `n_after` after it.
  void write(StateId from, int n_before, int n_after) {
    n_after_ = n_after;
    const bool low_is_longer = low_.value.exponent > n_before,
               high_is_shorter = std::max(high_.value.exponent, 1) < n_before;
    if (low_is_longer || high_is_shorter) return;
    const bool low_is_tight = std::max(low_.value.exponent, 1) == n_before;
    const bool high_is_tight = std::max(high_.value.exponent, 1) == n_before;
    go_on({n_before - 1, low_is_tight, high_is_tight, false, 0, from}, n_before > 1 ? 1 : 0);
    while (!to_do_.empty()) {
      const Key key = to_do_.back();
      to_do_.pop_back();
      if (may_end(key)) rules_.add_empty(key.state, end_);
      go_on(key, 0);
    }
  }

 private:
  struct Key {
    int place;                         // of the next digit; that of the units is 0
    bool low_is_tight, high_is_tight;  // true if the digits so far equal the bound's
    bool rest;                         // a digit that the remainder does not count is not 0
    uint32_t remainder;
    StateId state;
  };

  StateId state_at(Key key) {
    const uint64_t code = (uint64_t{key.remainder} << 24) | (static_cast<uint64_t>(key.place + 64) << 8) |
                          (static_cast<uint64_t>(n_after_) << 3) | (uint64_t{key.low_is_tight} << 2) |
                          (uint64_t{key.high_is_tight} << 1) | uint64_t{key.rest};
    const auto [found, is_new] = states_.try_emplace(code, 0);
    if (is_new) {
      key.state = found->second = rules_.new_state();
      to_do_.push_back(key);
    }
    return found->second;
  }

  // True if the bound has digits other than 0 from `place` on.
  static bool has_more(const Decimal& bound, int place) {
    return !bound.is_zero() && place >= bound.exponent - static_cast<int>(bound.digits.size());
  }

  bool may_end(const Key& key) const {
    if (key.place >= 0 || !remainders_.may_end(key.remainder, -1 - key.place, key.rest)) return false;
    if (key.low_is_tight && (has_more(low_.value, key.place) || !low_.is_inside)) return false;
    return !key.high_is_tight || high_.is_inside || has_more(high_.value, key.place);
  }

  void go_on(const Key& key, int least) {
    if (key.place < -n_after_) return;
    StateId from = key.state;
    if (key.place == -1) from = rules_.add_text(from, ".");
    const int low = low_.value.digit(key.place), high = high_.value.digit(key.place);
    const bool counts = key.place >= -remainders_.places;
    int first = least;  // the first of the digits that lead to the same place
    for (int digit = least; digit <= 9; ++digit, first = digit) {
      if ((key.low_is_tight && digit < low) || (key.high_is_tight && digit > high)) continue;
      Key next = {.place = key.place - 1,
                  .low_is_tight = key.low_is_tight && digit == low,
                  .high_is_tight = key.high_is_tight && digit == high,
                  .rest = key.rest || (!counts && remainders_.no_multiple && digit != 0),
                  .remainder = key.remainder,
                  .state = 0};
      if (counts) next.remainder = (key.remainder * 10 + static_cast<uint32_t>(digit)) % remainders_.modulus;
      const bool is_free =
          !key.low_is_tight && !key.high_is_tight && remainders_.modulus == 1 && !remainders_.no_multiple;
      if (is_free) digit = 9;
      rules_.add_bytes(from, static_cast<uint8_t>('0' + first), static_cast<uint8_t>('0' + digit), state_at(next));
    }
  }

  RuleWriter& rules_;
  Bound low_, high_;
  Remainders remainders_;
  StateId end_;
  int n_after_ = 0;
  std::unordered_map<uint64_t, StateId> states_;
  std::vector<Key> to_do_;
};

Decimal power_of_ten(int exponent) { return {.digits = "1", .exponent = exponent + 1}; }

Bound negated(Bound bound) {
  if (!bound.value.is_zero()) bound.value.is_negative = !bound.value.is_negative;
  return bound;
}

// A bound with more digits than numbers have is moved inwards to one that has as many.
Result<void> fit_bound(std::optional<Bound>& bound, bool is_low, int most) {
  if (!bound) return {};
  Decimal& value = bound->value;
  if (value.exponent > most) {
    // Beyond all numbers that can be written: it allows all of them, or none.
    if (is_low == value.is_negative) return {};
    return fail(ErrorCode::kNotSupported, "a bound of more than {} digits", most);
  }
  const int n_after = static_cast<int>(value.digits.size()) - value.exponent;
  const int kept = most - std::max(value.exponent, 1);
  if (n_after <= kept) return {};
  const int n_digits = std::max(value.exponent + kept, 0);
  const bool grows = is_low != value.is_negative;  // away from 0
  value.digits.resize(static_cast<size_t>(n_digits));
  if (grows) {
    int i = n_digits - 1;
    while (i >= 0 && value.digits[static_cast<size_t>(i)] == '9') value.digits[static_cast<size_t>(i--)] = '0';
    if (i >= 0) {
      ++value.digits[static_cast<size_t>(i)];
    } else {
      value.digits.insert(0, "1");
      value.exponent = n_digits == 0 ? 1 - kept : value.exponent + 1;
    }
  }
  while (value.digits.ends_with('0')) value.digits.pop_back();
  if (value.digits.empty()) value = {};
  return {};
}

Result<Remainders> remainders_of(const NumberBounds& bounds) {
  Remainders out = {.multiple = bounds.multiple};
  if (bounds.is_impossible || bounds.no_multiples.size() > 1)
    return fail(ErrorCode::kNotSupported, "{}", Multiple::kRange);
  if (!bounds.no_multiples.empty()) out.no_multiple = bounds.no_multiples[0];
  uint64_t modulus = 1;
  for (const auto& one : {out.multiple, out.no_multiple}) {
    if (one) out.places = std::max(out.places, one->places);
  }
  for (const auto& one : {out.multiple, out.no_multiple}) {
    if (one) modulus = std::lcm(modulus, one->times * power(out.places - one->places));
    if (modulus > Multiple::kMaxTimes) return fail(ErrorCode::kNotSupported, "{}", Multiple::kRange);
  }
  out.modulus = static_cast<uint32_t>(modulus);
  return out;
}

}  // namespace

std::optional<Multiple> Multiple::of(const Decimal& number) {
  Multiple out = {.times = 0};
  const int n_digits = static_cast<int>(number.digits.size());
  out.places = std::max(n_digits - number.exponent, 0);
  if (out.places > kMaxPlaces || number.exponent > 4 || n_digits > 4) return std::nullopt;
  for (int place = number.exponent - 1; place >= -out.places; --place) {
    out.times = out.times * 10 + static_cast<uint32_t>(number.digit(place));
  }
  return out.times == 0 || out.times > kMaxTimes ? std::nullopt : std::optional(out);
}

std::optional<Multiple> Multiple::common(const Multiple& a, const Multiple& b) {
  const int places = std::max(a.places, b.places);
  uint64_t times = std::lcm(a.times * power(places - a.places), b.times * power(places - b.places));
  Multiple out = {.places = places};
  for (; out.places > 0 && times % 10 == 0; times /= 10) --out.places;
  if (times > kMaxTimes) return std::nullopt;
  out.times = static_cast<uint32_t>(times);
  return out;
}

bool Multiple::divides(const Decimal& number) const {
  if (static_cast<int>(number.digits.size()) - number.exponent > places) return false;
  uint64_t remainder = 0;
  for (int place = number.exponent - 1; place >= -places; --place) {
    remainder = (remainder * 10 + static_cast<uint64_t>(number.digit(place))) % times;
  }
  return remainder == 0;
}

void NumberBounds::add_low(const Bound& bound) {
  const int order = low ? Decimal::compare(bound.value, low->value) : 1;
  if (order > 0 || (order == 0 && !bound.is_inside)) low = bound;
}

void NumberBounds::add_high(const Bound& bound) {
  const int order = high ? Decimal::compare(bound.value, high->value) : -1;
  if (order < 0 || (order == 0 && !bound.is_inside)) high = bound;
}

void NumberBounds::meet(const NumberBounds& other) {
  if (other.low) add_low(*other.low);
  if (other.high) add_high(*other.high);
  if (other.multiple) {
    const auto both = multiple ? Multiple::common(*multiple, *other.multiple) : other.multiple;
    is_impossible |= !both;
    multiple = both;
  }
  is_impossible |= other.is_impossible;
  for (const Multiple& one : other.no_multiples) {
    const auto is_same = [&](const Multiple& own) { return own.times == one.times && own.places == one.places; };
    if (std::ranges::none_of(no_multiples, is_same)) no_multiples.push_back(one);
  }
}

bool NumberBounds::holds(const Decimal& number) const {
  const int above = low ? Decimal::compare(number, low->value) : 1;
  const int below = high ? Decimal::compare(high->value, number) : 1;
  if (above < 0 || (above == 0 && !low->is_inside) || below < 0 || (below == 0 && !high->is_inside)) return false;
  return (!multiple || multiple->divides(number)) &&
         std::ranges::none_of(no_multiples, [&](const Multiple& one) { return one.divides(number); });
}

bool NumberBounds::is_empty() const {
  if (!low || !high) return false;
  const int order = Decimal::compare(low->value, high->value);
  return order > 0 || (order == 0 && (!low->is_inside || !high->is_inside));
}

Result<StateId> add_number(RuleWriter& rules, StateId from, const NumberBounds& bounds) {
  TRY(const Remainders remainders, remainders_of(bounds));
  const bool is_integer = bounds.multiple && bounds.multiple->places == 0;
  const int most = is_integer ? kIntegerDigits : kExactDigits;
  std::optional<Bound> least = bounds.low, greatest = bounds.high;
  TRY_STATUS(fit_bound(least, /*is_low=*/true, most));
  TRY_STATUS(fit_bound(greatest, /*is_low=*/false, most));
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
    MagnitudeWriter writer(rules, *low, *high, remainders, end);
    for (int n_before = 1; n_before <= n_digits; ++n_before) {
      const int n_after = std::max(kExactDigits - n_before, 0);
      writer.write(begin, n_before, bounds.multiple ? std::min(n_after, bounds.multiple->places) : n_after);
    }
  };
  const auto flipped = [](const std::optional<Bound>& bound) {
    return bound ? std::optional(negated(*bound)) : std::nullopt;
  };
  write_side(from, least, greatest, /*zero_is_inside=*/true);
  write_side(rules.add_text(from, "-"), flipped(greatest), flipped(least), /*zero_is_inside=*/false);
  return end;
}

}  // namespace tern::grammar
