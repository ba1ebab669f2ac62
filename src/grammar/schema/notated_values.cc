#include "grammar/schema/notated_values.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "grammar/rules/utf8_chars.h"
#include "grammar/schema/any_order.h"

namespace tern::grammar {
namespace {

using Value = JsonValue;

constexpr int kMostKeyChars = 64;

}  // namespace

const CharSet& name_chars() {
  static const CharSet kSet = {{'a', 'z'}, {'A', 'Z'}, {'0', '9'}, {'_', '_'}, {'-', '-'}, {'.', '.'}};
  return kSet;
}

Result<StateId> NotatedValues::add_object(StateId from, const Clauses& clauses, const PairMarks& marks) {
  element_marks_ = marks;
  TRY(const std::vector<Clauses> all, parts_.alternatives.of(clauses));
  const StateId to = rules_.new_state();
  bool has_some = false;
  for (const Clauses& one : all) {
    TRY(const auto values, reader_.values(one));
    if (values || (reader_.types(one, /*meant=*/false) & kObjectType) == 0) continue;
    has_some = true;
    const StateId own = rules_.new_state();
    rules_.add_empty(from, own);
    TRY(const StateId end, add_pairs(own, one, marks));
    rules_.add_empty(end, to);
  }
  if (!has_some) return reader_.refuse(clauses, "", "arguments that are no object with named properties");
  return to;
}

std::string_view NotatedValues::hard_members(const Clauses& clauses) const {
  const Lengths lengths = reader_.lengths(clauses, &Clause::n_properties);
  if (lengths.low > reader_.required(clauses).size()) return "minProperties";
  if (lengths.high) return "maxProperties";
  for (const ClauseId id : clauses) {
    const Clause& own = reader_.at(id);
    if (own.patterns) return "patternProperties";
    if (own.names != kAnything) return "propertyNames";
    if (!own.some.empty()) return "not";
  }
  return {};
}

Result<StateId> NotatedValues::add_pairs(StateId from, const Clauses& clauses, const PairMarks& marks) {
  if (const std::string_view keyword = hard_members(clauses); !keyword.empty()) {
    return reader_.refuse(clauses, keyword, "it cannot be enforced in this form of calls");
  }
  std::vector<std::string_view> names = reader_.declared_properties(clauses);
  const std::vector<std::string_view> required = reader_.required(clauses);
  const bool is_open =
      names.empty() || std::ranges::any_of(clauses, [&](ClauseId id) { return reader_.at(id).says_others; });
  if (reader_.in_any_order(clauses)) return add_unordered(from, clauses, names, is_open, marks);
  // The state after no pair, and after some.
  std::array<StateId, 2> here = {rules_.new_state(), rules_.new_state()};
  rules_.add_empty(from, here[0]);
  const auto before = [&] {
    const StateId state = rules_.new_state();
    rules_.add_empty(here[0], state);
    rules_.add_empty(rules_.add_text(here[1], marks.between), state);
    return state;
  };
  if (marks.sorts) std::ranges::sort(names);
  for (const std::string_view name : names) {
    if (rules_.is_full()) break;
    const bool is_required = std::ranges::binary_search(required, name);
    TRY(const Clauses value, reader_.property(clauses, {.name = name}));
    if (std::ranges::contains(value, kNothing) || name == marks.not_named) {
      if (is_required) return rules_.new_state();  // nothing leads there: no object is possible
      continue;
    }
    std::array<StateId, 2> next = {rules_.new_state(), rules_.new_state()};
    TRY(const StateId after, add_pair(before(), name, value, marks));
    rules_.add_empty(after, next[1]);
    if (!is_required) {
      for (size_t i = 0; i < 2; ++i) rules_.add_empty(here[i], next[i]);
    }
    here = next;
  }
  TRY(const Clauses others, reader_.property(clauses, {}));
  if (is_open && !std::ranges::contains(others, kNothing)) {
    TRY(const StateId after, add_other_pair(before(), clauses, others, marks));
    rules_.add_empty(after, here[1]);
  }
  const StateId to = rules_.new_state();
  rules_.add_empty(here[1], to);
  if (!marks.has_some) rules_.add_empty(here[0], to);
  return to;
}

Result<StateId> NotatedValues::add_unordered(StateId from, const Clauses& clauses,
                                             const std::vector<std::string_view>& names, bool is_open,
                                             const PairMarks& marks) {
  if (names.size() > Unordered::kMost)
    return reader_.refuse(clauses, "properties",
                          format_text("more than {} in any order take too many states", Unordered::kMost));
  const std::vector<std::string_view> required = reader_.required(clauses);
  Unordered all;
  for (const std::string_view name : names) {
    const bool is_required = std::ranges::binary_search(required, name);
    TRY(const Clauses value, reader_.property(clauses, {.name = name}));
    if (std::ranges::contains(value, kNothing) || name == marks.not_named) {
      if (is_required) return rules_.new_state();  // nothing leads there: no object is possible
      continue;
    }
    const RuleId rule = rules_.new_rule("a property");
    TRY(const StateId after, add_pair(rules_.start_of(rule), name, value, marks));
    rules_.end(after);
    all.members.push_back({rule, is_required});
  }
  TRY(const Clauses others, reader_.property(clauses, {}));
  if (is_open && !std::ranges::contains(others, kNothing)) {
    all.other = rules_.new_rule("another property");
    TRY(const StateId after, add_other_pair(rules_.start_of(*all.other), clauses, others, marks));
    rules_.end(after);
  }
  const StateId to = write_unordered(rules_, from, all, [&](StateId at) { return rules_.add_text(at, marks.between); });
  if (all.may_be_empty() && !marks.has_some) rules_.add_empty(from, to);
  return to;
}

Result<StateId> NotatedValues::add_pair(StateId from, std::string_view key, const Clauses& value,
                                        const PairMarks& marks) {
  const StateId name = rules_.add_text(rules_.add_text(from, marks.key_begin), key);
  TRY(const StateId end, add_value(name, value, marks));
  const StateId after = rules_.add_text(end, marks.value_end);
  return marks.value_end_name.empty() ? after : rules_.add_text(rules_.add_text(after, key), marks.value_end_name);
}

// A pair that the schema does not name. Where its name comes again, any name does, because that cannot be held to.
Result<StateId> NotatedValues::add_other_pair(StateId from, const Clauses& clauses, const Clauses& value,
                                              const PairMarks& marks) {
  std::vector<std::u32string> known;
  for (const std::string_view name : reader_.declared_properties(clauses)) known.push_back(chars_of(name));
  if (!marks.not_named.empty()) known.push_back(chars_of(marks.not_named));
  const CharAutomaton key =
      CharAutomaton::repeated(name_chars(), 1, kMostKeyChars).common(CharAutomaton::all_but(known));
  if (key.is_full()) return reader_.refuse(clauses, "", "the names of its properties take too many states");
  const StateId name = key.write(rules_, rules_.add_text(from, marks.key_begin), CharAutomaton::Spelling::kUtf8);
  TRY(const StateId end, add_value(name, value, marks));
  const StateId after = rules_.add_text(end, marks.value_end);
  if (marks.value_end_name.empty()) return after;
  const CharAutomaton again = CharAutomaton::repeated(name_chars(), 1, kMostKeyChars);
  return rules_.add_text(again.write(rules_, after, CharAutomaton::Spelling::kUtf8), marks.value_end_name);
}

// The value with the mark before it, which may depend on its type.
Result<StateId> NotatedValues::add_value(StateId from, const Clauses& value, const PairMarks& marks) {
  // What may be elements must not look like one.
  const std::string_view stop = marks.notation == Notation::kElements ? marks.key_begin : marks.value_end;
  const Place place = {marks.notation, std::string(stop.substr(std::min(stop.find_first_not_of(" \n"), stop.size()))),
                       marks.sorts, std::string(marks.text_begin), std::string(marks.text_end)};
  if (!marks.type_end.empty())
    return add_typed_value(rules_.add_text(from, marks.key_end), value, place, marks.type_end);
  const StateId to = rules_.new_state();
  const bool has_two = !marks.key_end_other.empty() && marks.key_end_other != marks.key_end;
  if (!has_two) {
    rules_.add_call(rules_.add_text(from, marks.key_end), rule_of(value, place), to);
    return to;
  }
  TRY(const std::vector<Clauses> all, parts_.alternatives.of(value));
  for (const Clauses& one : all) {
    TRY(const uint8_t types, types_in(one));
    if ((types & kStringType) != 0) {
      TRY(const StateId end, add_string(rules_.add_text(from, marks.key_end), one, place));
      rules_.add_empty(end, to);
    }
    if (types == kStringType) continue;
    const RuleId rule = parts_.rule_of(with_types(one, kAllTypes & ~kStringType));
    rules_.add_call(rules_.add_text(from, marks.key_end_other), rule, to);
  }
  return to;
}

// The same with its type and the mark behind that.
Result<StateId> NotatedValues::add_typed_value(StateId from, const Clauses& value, const Place& place,
                                               std::string_view type_end) {
  constexpr std::pair<std::string_view, uint8_t> kTypes[] = {{"null", kNullType},
                                                             {"boolean", kBooleanType},
                                                             {"number", kIntegerType | kFractionType},
                                                             {"array", kArrayType},
                                                             {"object", kObjectType}};
  const StateId to = rules_.new_state();
  TRY(const std::vector<Clauses> all, parts_.alternatives.of(value));
  for (const Clauses& one : all) {
    TRY(const uint8_t types, types_in(one));
    if ((types & kStringType) != 0) {
      TRY(const StateId end, add_string(rules_.add_text(rules_.add_text(from, "string"), type_end), one, place));
      rules_.add_empty(end, to);
    }
    for (const auto& [name, bits] : kTypes) {
      if ((types & bits) == 0) continue;
      const RuleId rule = parts_.rule_of(with_types(one, bits));
      rules_.add_call(rules_.add_text(rules_.add_text(from, name), type_end), rule, to);
    }
  }
  return to;
}

Result<uint8_t> NotatedValues::types_in(const Clauses& clauses, bool meant) {
  TRY(const auto values, reader_.values(clauses));
  if (!values) return reader_.types(clauses, meant);
  uint8_t types = 0;
  for (const Value* value : *values) types = static_cast<uint8_t>(types | type_of(*value));
  return types;
}

Clauses NotatedValues::with_types(const Clauses& clauses, uint8_t types) {
  Clauses all = clauses;
  const ClauseId more = reader_.with_types(types);
  if (!std::ranges::contains(all, more)) all.push_back(more);
  std::ranges::sort(all);
  return all;
}

RuleId NotatedValues::rule_of(const Clauses& clauses, const Place& place) {
  const auto [known, is_new] = known_.try_emplace(std::pair(clauses, place), 0);
  if (is_new) {
    known->second = rules_.new_rule("an argument");
    to_do_.push_back({clauses, place, known->second});
  }
  return known->second;
}

Result<void> NotatedValues::finish() {
  while (!to_do_.empty() && !rules_.is_full()) {
    const Job job = std::move(to_do_.front());
    to_do_.pop_front();
    TRY_STATUS(write_rule(job.clauses, job.place, job.rule));
  }
  return {};
}

Result<void> NotatedValues::write_rule(const Clauses& clauses, const Place& where, RuleId rule) {
  const StateId start = rules_.start_of(rule), end = rules_.new_state();
  rules_.end(end);
  TRY(const std::vector<Clauses> all, parts_.alternatives.of(clauses));
  Place place = where;
  for (const Clauses& one : all) {
    TRY(const uint8_t types, types_in(one, /*meant=*/false));
    place.types = static_cast<uint8_t>(place.types | types);
  }
  for (const Clauses& one : all) {
    TRY(const auto values, reader_.values(one));
    if (!values) {
      TRY_STATUS(write_types(one, place, start, end));
      continue;
    }
    for (const Value* value : *values) {
      if (value->kind == Value::kArray || value->kind == Value::kObject) {
        return reader_.refuse(one, "enum", "lists and objects, which cannot be enforced in this form of calls");
      }
      rules_.add_empty(add_literal(start, *value, place), end);
    }
  }
  return {};
}

Result<void> NotatedValues::write_types(const Clauses& clauses, const Place& place, StateId start, StateId end) {
  if (place.notation == Notation::kElements) return write_elements(clauses, place, start, end);
  const uint8_t types = reader_.types(clauses, /*meant=*/true);
  if (types & kStringType) {
    TRY(const StateId after, add_string(start, clauses, place));
    rules_.add_empty(after, end);
  }
  if (place.notation != Notation::kText) return write_literals(clauses, place.notation, types, start, end);
  if (types == kStringType) return {};
  const Clauses unquoted = with_types(clauses, kAllTypes & ~kStringType);
  rules_.add_call(start, rule_of(unquoted, {Notation::kPython, "", place.sorts}), end);  // some templates write that
  return {};
}

// What the notation has for all types but strings. For Python, JSON is there as well.
Result<void> NotatedValues::write_literals(const Clauses& clauses, Notation notation, uint8_t types, StateId start,
                                           StateId end) {
  const bool is_gemma = notation == Notation::kGemma;
  const auto add_word = [&](const char* word) { rules_.add_empty(rules_.add_text(start, word), end); };
  if ((types & kNullType) && !reader_.excludes(clauses, Value::kNull)) {
    add_word("None");
    if (is_gemma) add_word("null");
  }
  if (!is_gemma) {
    if ((types & kBooleanType) && !reader_.excludes(clauses, Value::kTrue)) add_word("True");
    if ((types & kBooleanType) && !reader_.excludes(clauses, Value::kFalse)) add_word("False");
    rules_.add_call(start, parts_.rule_of(clauses), end);
  } else if (types & (kBooleanType | kIntegerType | kFractionType)) {
    rules_.add_call(start, parts_.rule_of(with_types(clauses, kBooleanType | kIntegerType | kFractionType)), end);
  }
  if (types & kArrayType) {
    TRY(const auto after, write_list(clauses, notation, start));
    if (after) rules_.add_empty(*after, end);
  }
  return (types & kObjectType) != 0 ? write_members(clauses, notation, start, end) : Result<void>();
}

Result<void> NotatedValues::write_members(const Clauses& clauses, Notation notation, StateId start, StateId end) {
  const bool is_gemma = notation == Notation::kGemma;
  const PairMarks marks = {.notation = notation,
                           .key_begin = is_gemma ? "" : "'",
                           .key_end = is_gemma ? ":" : "': ",
                           .key_end_other = "",
                           .value_end = "",
                           .between = is_gemma ? "," : ", ",
                           .sorts = is_gemma};
  // JSON is possible in Python's notation, so what is left out here is not lost.
  if (!is_gemma && (!hard_members(clauses).empty() || reader_.excludes(clauses, Value::kObject))) return {};
  if (reader_.excludes(clauses, Value::kObject))
    return reader_.refuse(clauses, "not", "objects, which cannot be excluded in this form of calls");
  TRY(const StateId after, add_pairs(rules_.add_text(start, "{"), clauses, marks));
  rules_.add_empty(rules_.add_text(after, "}"), end);
  return {};
}

bool NotatedValues::has_hard_items(const Clauses& clauses) const {
  const Lengths lengths = reader_.lengths(clauses, &Clause::n_items);
  if (lengths.low > 1 || lengths.high || reader_.excludes(clauses, Value::kArray)) return true;
  return std::ranges::any_of(clauses, [&](ClauseId id) {
    const Clause& own = reader_.at(id);
    return own.is_unique || !own.prefix.empty() || !own.contains.empty() || own.unevaluated_items != kAnything;
  });
}

// nullopt: none is written, as JSON is possible.
Result<std::optional<StateId>> NotatedValues::write_list(const Clauses& clauses, Notation notation, StateId start) {
  const bool is_gemma = notation == Notation::kGemma;
  if (has_hard_items(clauses)) {
    if (!is_gemma) return std::nullopt;
    return reader_.refuse(
        clauses, "", "a list with more than the type of its items, which cannot be enforced in this form of calls");
  }
  const Lengths lengths = reader_.lengths(clauses, &Clause::n_items);
  const StateId close = rules_.new_state();
  if (lengths.low == 0) rules_.add_empty(rules_.add_text(start, "["), close);
  const Clauses item = reader_.item(clauses, 0);
  if (!std::ranges::contains(item, kNothing)) {
    const StateId open = rules_.add_text(start, "[");
    const StateId after = rules_.new_state();
    rules_.add_call(open, rule_of(item, {notation, "", is_gemma}), after);
    rules_.add_empty(rules_.add_text(after, is_gemma ? "," : ", "), open);
    rules_.add_empty(after, close);
  }
  return rules_.add_text(close, "]");
}

}  // namespace tern::grammar
