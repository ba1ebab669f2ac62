#include "grammar/schema/notated_values.h"

#include <algorithm>
#include <array>
#include <set>

#include "grammar/rules/utf8_chars.h"

namespace tern::grammar {
namespace {

using Value = JsonValue;

constexpr std::string_view kQuote = "<|\"|>";  // Gemma's
constexpr int kMostKeyChars = 64;
constexpr size_t kMostChars = 16'384;

const CharSet& key_chars() {
  static const CharSet kSet = {{'a', 'z'}, {'A', 'Z'}, {'0', '9'}, {'_', '_'}, {'-', '-'}, {'.', '.'}};
  return kSet;
}

std::u32string code_points(std::string_view text) {
  std::u32string chars;
  while (const auto c = take_char(text)) chars += *c;
  return chars;
}

// Any text in which `stop` does not occur: a state for each number of its characters that the text ends with.
CharAutomaton texts_without(std::string_view stop) {
  const std::u32string mark = code_points(stop);
  CharAutomaton texts;
  for (size_t i = 1; i < mark.size(); ++i) texts.add_state();
  const std::set<char32_t> own(mark.begin(), mark.end());
  for (size_t n = 0; n < std::max<size_t>(mark.size(), 1); ++n) {
    texts.end(static_cast<uint32_t>(n));
    CharSet others = CharSet::all();
    for (const char32_t c : own) {
      others = others.without(CharSet::one(c));
      const std::u32string seen = mark.substr(0, n) + c;
      size_t next = std::min(seen.size(), mark.size());
      while (!std::u32string_view(seen).ends_with(std::u32string_view(mark).substr(0, next))) --next;
      if (next < mark.size()) texts.add_char(static_cast<uint32_t>(n), CharSet::one(c), static_cast<uint32_t>(next));
    }
    texts.add_char(static_cast<uint32_t>(n), others, 0);
  }
  return texts;
}

// What may stand between single quotes: without escapes, so that patterns and lengths can be enforced, and with them.
const CharSet& python_chars() {
  static const CharSet kChars = CharSet{{0, 8}, {0xB, 0xC}, {0xE, 0x1F}, {'\'', '\''}, {'\\', '\\'}}.inverted();
  return kChars;
}

CharAutomaton python_texts(bool with_escapes) {
  CharAutomaton texts = CharAutomaton::repeated(python_chars(), 0, -1);
  if (!with_escapes) return texts;
  texts = CharAutomaton();
  texts.end(texts.start());
  texts.add_char(texts.start(), python_chars(), texts.start());
  const uint32_t escape = texts.add_state();
  texts.add_char(texts.start(), CharSet::one('\\'), escape);
  texts.add_char(escape, CharSet{{'\\', '\\'}, {'\'', '\''}, {'n', 'n'}, {'r', 'r'}, {'t', 't'}}, texts.start());
  return texts;
}

}  // namespace

Result<StateId> NotatedValues::add_object(StateId from, const Terms& terms, const PairMarks& marks) {
  TRY(const Terms flat, parts_.reader.flatten(terms));
  TRY(const auto values, parts_.reader.values(flat));
  TRY(const uint8_t types, parts_.reader.types(flat));
  if (values || (types & kObjectType) == 0)
    return parts_.reader.refuse(*flat[0].schema, "", "arguments that are no object with named properties");
  for (const Term& choice : flat) {
    for (const auto& [keyword, bit] : {std::pair("anyOf", Term::kAnyOf), std::pair("oneOf", Term::kOneOf)}) {
      const Value* branches = (choice.without & bit) != 0 ? nullptr : choice.schema->find(keyword);
      if (!branches) continue;
      if (bit == Term::kOneOf) TRY_STATUS(parts_.rule_of(flat));  // checks that the branches exclude each other
      const StateId to = rules_.new_state();
      for (const Value& branch : branches->items) {
        Terms all = flat;
        for (Term& term : all) {
          if (term == choice) term.without |= bit;
        }
        all.push_back({&branch});
        const StateId own = rules_.new_state();
        rules_.add_empty(from, own);
        TRY(const StateId end, add_object(own, all, marks));
        rules_.add_empty(end, to);
      }
      return to;
    }
  }
  return add_pairs(from, flat, marks);
}

Result<StateId> NotatedValues::add_pairs(StateId from, const Terms& terms, const PairMarks& marks) {
  TRY(const Lengths lengths, parts_.reader.lengths(terms, "minProperties", "maxProperties"));
  std::vector<std::string> names = parts_.reader.declared_properties(terms);
  const std::vector<std::string> required = parts_.reader.required(terms);
  names.insert(names.end(), required.begin(), required.end());
  if (lengths.low > required.size() || lengths.high) {
    return parts_.reader.refuse(*terms[0].schema, "",
                                "minProperties and maxProperties, which cannot be enforced in this form of calls");
  }
  const bool is_open = parts_.reader.asks_for_others(terms) || parts_.reader.declared_properties(terms).empty();
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
  std::set<std::string> known;
  for (const std::string& name : names) {
    if (!known.insert(name).second || rules_.is_full()) continue;
    std::array<StateId, 2> next = {rules_.new_state(), rules_.new_state()};
    TRY(const StateId after, add_pair(before(), name, parts_.reader.property(terms, name), marks));
    rules_.add_empty(after, next[1]);
    if (!std::ranges::binary_search(required, name)) {
      for (size_t i = 0; i < 2; ++i) rules_.add_empty(here[i], next[i]);
    }
    here = next;
  }
  if (is_open && !parts_.reader.forbids_others(terms)) {
    Terms asked;
    for (const Term& term : terms) {
      if (const Value* own = term.schema->find("additionalProperties")) asked.push_back({own});
    }
    TRY(const StateId after, add_other_pair(before(), asked, marks));
    rules_.add_empty(after, here[1]);
  }
  const StateId to = rules_.new_state();
  for (const StateId state : here) rules_.add_empty(state, to);
  return to;
}

Result<StateId> NotatedValues::add_pair(StateId from, std::string_view key, const Terms& value,
                                        const PairMarks& marks) {
  const StateId name = rules_.add_text(rules_.add_text(from, marks.key_begin), key);
  TRY(const StateId end, add_value(name, value, marks));
  return rules_.add_text(end, marks.value_end);
}

Result<StateId> NotatedValues::add_other_pair(StateId from, const Terms& value, const PairMarks& marks) {
  const CharAutomaton key = CharAutomaton::repeated(key_chars(), 1, kMostKeyChars);
  const StateId name = key.write(rules_, rules_.add_text(from, marks.key_begin), CharAutomaton::Spelling::kUtf8);
  TRY(const StateId end, add_value(name, value, marks));
  return rules_.add_text(end, marks.value_end);
}

// The value with the mark before it, which may depend on its type.
Result<StateId> NotatedValues::add_value(StateId from, const Terms& value, const PairMarks& marks) {
  const Place place = {
      marks.notation,
      std::string(marks.value_end.substr(std::min(marks.value_end.find_first_not_of(" \n"), marks.value_end.size()))),
      marks.sorts};
  const StateId to = rules_.new_state();
  const bool has_two = !marks.key_end_other.empty() && marks.key_end_other != marks.key_end;
  if (!has_two) {
    TRY(const RuleId rule, rule_of(value, place));
    rules_.add_call(rules_.add_text(from, marks.key_end), rule, to);
    return to;
  }
  TRY(Terms flat, parts_.reader.flatten(value));
  TRY(const bool has_strings, may_be_string(flat, false));
  TRY(const bool is_string, may_be_string(flat, true));
  if (has_strings) {
    TRY(const StateId end, add_string(rules_.add_text(from, marks.key_end), flat, place));
    rules_.add_empty(end, to);
  }
  if (!is_string) {
    flat.push_back({types_.unquoted});
    TRY(const RuleId rule, parts_.rule_of(flat));
    rules_.add_call(rules_.add_text(from, marks.key_end_other), rule, to);
  }
  return to;
}

// True if a string is among the values, or with `only` if all of them are strings.
Result<bool> NotatedValues::may_be_string(const Terms& terms, bool only) {
  TRY(const auto values, parts_.reader.values(terms));
  const auto is_string = [](const Value* value) { return value->kind == Value::kString; };
  if (values) return only ? std::ranges::all_of(*values, is_string) : std::ranges::any_of(*values, is_string);
  TRY(const uint8_t types, parts_.reader.types(terms));
  return only ? types == kStringType : (types & kStringType) != 0;
}

Result<RuleId> NotatedValues::rule_of(const Terms& terms, const Place& place) {
  TRY(Terms flat, parts_.reader.flatten(terms));
  const auto [known, is_new] = known_.try_emplace(std::pair(flat, place), 0);
  if (is_new) {
    known->second = rules_.new_rule("an argument");
    to_do_.push_back({std::move(flat), place, known->second});
  }
  return known->second;
}

Result<void> NotatedValues::finish() {
  while (!to_do_.empty() && !rules_.is_full()) {
    const Job job = std::move(to_do_.front());
    to_do_.pop_front();
    TRY_STATUS(write_rule(job.terms, job.place, job.rule));
  }
  return {};
}

Result<void> NotatedValues::write_rule(const Terms& terms, const Place& place, RuleId rule) {
  const StateId start = rules_.start_of(rule), end = rules_.new_state();
  rules_.end(end);
  if (std::ranges::any_of(terms, [](const Term& term) { return term.schema->kind == Value::kFalse; })) return {};
  TRY(const auto values, parts_.reader.values(terms));
  if (values) {
    for (const Value* value : *values) {
      if (value->kind == Value::kArray || value->kind == Value::kObject) {
        return parts_.reader.refuse(*terms[0].schema, "enum",
                                    "lists and objects, which cannot be enforced in this form of calls");
      }
      rules_.add_empty(add_literal(start, *value, place), end);
    }
    return {};
  }
  TRY(const bool is_split, splits(terms, place, start, end));
  return is_split ? Result<void>() : write_types(terms, place, start, end);
}

// Writes the branches of an anyOf or oneOf; false: there is none.
Result<bool> NotatedValues::splits(const Terms& terms, const Place& place, StateId start, StateId end) {
  for (const Term& choice : terms) {
    for (const auto& [keyword, bit] : {std::pair("anyOf", Term::kAnyOf), std::pair("oneOf", Term::kOneOf)}) {
      const Value* branches = (choice.without & bit) != 0 ? nullptr : choice.schema->find(keyword);
      if (!branches) continue;
      if (bit == Term::kOneOf) TRY_STATUS(parts_.rule_of(terms));  // checks that the branches exclude each other
      for (const Value& branch : branches->items) {
        Terms all = terms;
        for (Term& term : all) {
          if (term == choice) term.without |= bit;
        }
        all.push_back({&branch});
        TRY(const RuleId rule, rule_of(all, place));
        rules_.add_call(start, rule, end);
      }
      return true;
    }
  }
  return false;
}

Result<void> NotatedValues::write_types(const Terms& terms, const Place& place, StateId start, StateId end) {
  TRY(const uint8_t types, parts_.reader.types(terms));
  if (types & kStringType) {
    TRY(const StateId after, add_string(start, terms, place));
    rules_.add_empty(after, end);
  }
  if (place.notation != Notation::kText) return write_literals(terms, place.notation, types, start, end);
  if (types == kStringType) return {};
  Terms unquoted = terms;
  unquoted.push_back({types_.unquoted});
  TRY(const RuleId rule, rule_of(unquoted, {Notation::kPython, "", place.sorts}));  // some templates write that
  rules_.add_call(start, rule, end);
  return {};
}

// What the notation has for all types but strings. For Python, JSON is there as well.
Result<void> NotatedValues::write_literals(const Terms& terms, Notation notation, uint8_t types, StateId start,
                                           StateId end) {
  const bool is_gemma = notation == Notation::kGemma;
  const auto add_word = [&](const char* word) { rules_.add_empty(rules_.add_text(start, word), end); };
  if (types & kNullType) add_word("None");
  if ((types & kNullType) && is_gemma) add_word("null");
  if (!is_gemma) {
    if (types & kBooleanType) add_word("True");
    if (types & kBooleanType) add_word("False");
    TRY(const RuleId rule, parts_.rule_of(terms));
    rules_.add_call(start, rule, end);
  } else if (types & (kBooleanType | kIntegerType | kFractionType)) {
    Terms scalar = terms;
    scalar.push_back({types_.scalar});
    TRY(const RuleId rule, parts_.rule_of(scalar));
    rules_.add_call(start, rule, end);
  }
  if (types & kArrayType) {
    TRY(const auto after, write_list(terms, notation, start));
    if (after) rules_.add_empty(*after, end);
  }
  if ((types & kObjectType) == 0) return {};
  const PairMarks marks = {.notation = notation,
                           .key_begin = is_gemma ? "" : "'",
                           .key_end = is_gemma ? ":" : "': ",
                           .key_end_other = "",
                           .value_end = "",
                           .between = is_gemma ? "," : ", ",
                           .sorts = is_gemma};
  if (!is_gemma) {  // JSON is possible, so what is refused here is not lost
    TRY(const Lengths lengths, parts_.reader.lengths(terms, "minProperties", "maxProperties"));
    if (lengths.low > parts_.reader.required(terms).size() || lengths.high) return {};
  }
  TRY(const StateId after, add_pairs(rules_.add_text(start, "{"), terms, marks));
  rules_.add_empty(rules_.add_text(after, "}"), end);
  return {};
}

// nullopt: none is written, as JSON is possible.
Result<std::optional<StateId>> NotatedValues::write_list(const Terms& terms, Notation notation, StateId start) {
  const bool is_gemma = notation == Notation::kGemma;
  TRY(const Lengths lengths, parts_.reader.lengths(terms, "minItems", "maxItems"));
  if (lengths.low > 1 || lengths.high ||
      std::ranges::any_of(terms, [](const Term& term) { return term.schema->find("prefixItems") != nullptr; })) {
    if (!is_gemma) return std::nullopt;
    return parts_.reader.refuse(*terms[0].schema, "",
                                "a list with a number of items, which cannot be enforced in this form of calls");
  }
  TRY(const RuleId item, rule_of(parts_.reader.item(terms, 0), {notation, "", is_gemma}));
  const StateId open = rules_.add_text(start, "[");
  const StateId after = rules_.new_state();
  rules_.add_call(open, item, after);
  rules_.add_empty(rules_.add_text(after, is_gemma ? "," : ", "), open);
  const StateId close = rules_.new_state();
  rules_.add_empty(after, close);
  if (lengths.low == 0) rules_.add_empty(rules_.add_text(start, "["), close);
  return rules_.add_text(close, "]");
}

// A string in its notation: for Python only that in single quotes, as JSON's rule has the other.
Result<StateId> NotatedValues::add_string(StateId from, const Terms& terms, const Place& place) {
  TRY(const auto values, parts_.reader.values(terms));
  if (values) {
    const StateId to = rules_.new_state();
    for (const Value* value : *values) {
      if (value->kind == Value::kString) rules_.add_empty(add_literal(from, *value, place), to);
    }
    return to;
  }
  TRY(Lengths lengths, parts_.reader.lengths(terms, "minLength", "maxLength"));
  TRY(const auto pattern, parts_.reader.texts(terms));
  const bool is_python = place.notation == Notation::kPython, is_gemma = place.notation == Notation::kGemma;
  const bool is_free = !pattern && lengths.low == 0 && !lengths.high;
  CharAutomaton texts =
      is_python ? python_texts(is_free) : texts_without(is_gemma ? kQuote : std::string_view(place.stop));
  if (pattern) texts = texts.common(*pattern);
  if (lengths.low > kMostChars)
    return parts_.reader.refuse(*terms[0].schema, "minLength", format_text("more than {} characters", kMostChars));
  if (lengths.low > 0 || lengths.high) {
    const int high = lengths.high ? static_cast<int>(std::min(*lengths.high, kMostChars)) : -1;
    texts = texts.common(CharAutomaton::repeated(CharSet::all(), static_cast<int>(lengths.low), high));
  }
  if (texts.is_full())
    return parts_.reader.refuse(*terms[0].schema, "", "its pattern and lengths together take too many states");
  const std::string_view quote = is_python ? "'" : is_gemma ? kQuote : "";
  const StateId inside = rules_.add_text(from, quote);
  return rules_.add_text(texts.write(rules_, inside, CharAutomaton::Spelling::kUtf8), quote);
}

StateId NotatedValues::add_literal(StateId from, const Value& value, const Place& place) {
  if (value.kind != Value::kString) return rules_.add_text(from, json_text(value));
  switch (place.notation) {
    case Notation::kText:
      return rules_.add_text(from, value.text);
    case Notation::kPython: {
      const StateId to = rules_.add_text(from, json_text(value));
      const bool is_plain = value.text.find_first_of("'\\") == std::string::npos;
      if (is_plain) rules_.add_empty(rules_.add_text(from, "'" + value.text + "'"), to);
      return to;
    }
    case Notation::kGemma:
      return rules_.add_text(from, std::string(kQuote) + value.text + std::string(kQuote));
  }
  return from;
}

}  // namespace tern::grammar
