// NotatedValues: lists and objects as elements.
#include <algorithm>

#include "grammar/schema/notated_values.h"

namespace tern::grammar {
namespace {

constexpr size_t kMostItems = 200;
constexpr uint8_t kUnlike = kStringType | kArrayType | kObjectType;  // of which no two are told apart without elements

}  // namespace

Result<void> NotatedValues::write_elements(const Clauses& clauses, const Place& place, StateId start, StateId end) {
  const uint8_t types = reader_.types(clauses, /*meant=*/true);
  if ((types & kStringType) != 0) {
    TRY(const StateId after, add_string(start, clauses, place));
    rules_.add_empty(after, end);
  }
  if (const auto plain = static_cast<uint8_t>(types & ~kUnlike); plain != 0) {
    rules_.add_call(start, parts_.rule_of(with_types(clauses, plain)), end);
  }
  if ((types & kArrayType) != 0) TRY_STATUS(write_items(clauses, place, start, end));
  if ((types & kObjectType) == 0) return {};
  if (reader_.excludes(clauses, JsonValue::kObject))
    return reader_.refuse(clauses, "not", "objects, which cannot be excluded in this form of calls");
  PairMarks marks = element_marks_;
  marks.has_some = (place.types & kUnlike) != kObjectType;
  if ((place.types & kArrayType) != 0) marks.not_named = marks.item;
  TRY(const StateId after, add_pairs(start, clauses, marks));
  rules_.add_empty(after, end);
  return {};
}

Result<StateId> NotatedValues::add_item(StateId from, const Clauses& item, const Place& place) {
  const PairMarks& marks = element_marks_;
  const StateId after = rules_.new_state();
  const StateId begin =
      rules_.add_text(from, std::string(marks.key_begin) + std::string(marks.item) + std::string(marks.key_end));
  rules_.add_call(begin, rule_of(item, {place.notation, place.stop}), after);
  return rules_.add_text(after,
                         std::string(marks.value_end) + std::string(marks.item) + std::string(marks.value_end_name));
}

Result<void> NotatedValues::write_items(const Clauses& clauses, const Place& place, StateId start, StateId end) {
  size_t n_prefix = 0;
  for (const ClauseId id : clauses) {
    const Clause& own = reader_.at(id);
    n_prefix = std::max(n_prefix, own.prefix.size());
    if (own.is_unique || !own.contains.empty() || own.unevaluated_items != kAnything) {
      return reader_.refuse(clauses, "",
                            "a list whose items depend on each other, which cannot be enforced in this form of calls");
    }
  }
  if (reader_.excludes(clauses, JsonValue::kArray))
    return reader_.refuse(clauses, "not", "lists, which cannot be excluded in this form of calls");
  Lengths lengths = reader_.lengths(clauses, &Clause::n_items);
  if (lengths.low > kMostItems)
    return reader_.refuse(clauses, "minItems", "it cannot be enforced in this form of calls");
  if ((place.types & kUnlike) != kArrayType) lengths.low = std::max<size_t>(lengths.low, 1);
  if (lengths.high) lengths.high = std::min(*lengths.high, kMostItems);
  if (n_prefix > kMostItems)
    return reader_.refuse(clauses, "prefixItems", "more than can be enforced in this form of calls");
  const size_t n_alike = std::max(lengths.low, n_prefix);  // from this one on
  StateId at = start;
  for (size_t i = 0;; ++i) {
    if (i >= lengths.low) rules_.add_empty(at, end);
    const Clauses item = reader_.item(clauses, i);
    if (lengths.high ? i == *lengths.high : i > n_alike) return {};
    if (std::ranges::contains(item, kNothing) || rules_.is_full()) return {};
    TRY(const StateId after, add_item(at, item, place));
    if (!lengths.high && i == n_alike) {
      rules_.add_empty(after, at);
      return {};
    }
    at = after;
  }
}

}  // namespace tern::grammar
