// NotatedValues: strings.
#include <algorithm>
#include <set>

#include "grammar/rules/lark.h"
#include "grammar/rules/rules_without.h"
#include "grammar/rules/utf8_chars.h"
#include "grammar/schema/notated_values.h"

namespace tern::grammar {
namespace {

using Value = JsonValue;

constexpr std::string_view kQuote = "<|\"|>";  // Gemma's
constexpr size_t kMostChars = 16'384;

// Any text in which `stop` does not occur: a state for each number of its characters that the text ends with.
CharAutomaton texts_without(std::string_view stop) {
  const std::u32string mark = chars_of(stop);
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

CharAutomaton texts_beginning_without(char32_t c) {
  CharAutomaton texts;
  const uint32_t rest = texts.add_state();
  texts.end(texts.start());
  texts.end(rest);
  texts.add_char(texts.start(), CharSet::one(c).inverted(), rest);
  texts.add_char(rest, CharSet::all(), rest);
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

// A string in its notation: for Python only that in single quotes, as JSON's rule has the other.
Result<StateId> NotatedValues::add_string(StateId from, const Clauses& clauses, const Place& place) {
  TRY(const auto values, reader_.values(clauses));
  if (values) {
    const StateId to = rules_.new_state();
    for (const Value* value : *values) {
      if (value->kind == Value::kString) rules_.add_empty(add_literal(from, *value, place), to);
    }
    return to;
  }
  TRY(const Value* grammar, reader_.grammar(clauses));
  if (grammar) return add_grammar(from, clauses, *grammar, place);
  const Lengths lengths = reader_.lengths(clauses, &Clause::length);
  TRY(const auto matched, reader_.texts(clauses, /*is_wide=*/false));  // of these lengths
  const bool is_python = place.notation == Notation::kPython, is_gemma = place.notation == Notation::kGemma;
  const bool is_free = !matched && lengths.low == 0 && !lengths.high;
  if (lengths.low > kMostChars)
    return reader_.refuse(clauses, "minLength", format_text("more than {} characters", kMostChars));
  const int high = lengths.high ? static_cast<int>(std::min(*lengths.high, kMostChars)) : -1;
  const auto limited = [&](const CharAutomaton& texts) {
    if (is_free) return texts;
    return texts.common(matched ? *matched
                                : CharAutomaton::repeated(CharSet::all(), static_cast<int>(lengths.low), high));
  };
  CharAutomaton texts =
      limited(is_python ? python_texts(is_free) : texts_without(is_gemma ? kQuote : std::string_view(place.stop)));
  const bool has_marks = !place.text_begin.empty();
  const CharAutomaton inner = has_marks ? limited(texts_without(place.text_end)) : CharAutomaton();
  if (has_marks) texts = texts.common(texts_beginning_without(chars_of(place.text_begin)[0]));
  if (texts.is_full() || inner.is_full())
    return reader_.refuse(clauses, "", "its pattern and lengths together take too many states");
  const std::string_view quote = is_python ? "'" : is_gemma ? kQuote : "";
  const StateId inside = rules_.add_text(from, quote);
  const StateId end = rules_.add_text(texts.write(rules_, inside, CharAutomaton::Spelling::kUtf8), quote);
  if (!has_marks) return end;
  const StateId to = rules_.new_state();
  const StateId marked = rules_.add_text(from, place.text_begin);
  rules_.add_empty(rules_.add_text(inner.write(rules_, marked, CharAutomaton::Spelling::kUtf8), place.text_end), to);
  rules_.add_empty(end, to);
  return to;
}

// A string may be written as it is unless it looks like a marked one.
StateId NotatedValues::add_plain_literal(StateId from, std::string_view text, const Place& place) {
  if (place.text_begin.empty() && text.contains(place.stop)) return rules_.new_state();  // it would end there
  if (place.text_begin.empty()) return rules_.add_text(from, text);
  const StateId to = rules_.new_state();
  if (!text.starts_with(place.text_begin[0])) rules_.add_empty(rules_.add_text(from, text), to);
  if (!text.contains(place.text_end)) {
    const StateId inside = rules_.add_text(rules_.add_text(from, place.text_begin), text);
    rules_.add_empty(rules_.add_text(inside, place.text_end), to);
  }
  return to;
}

StateId NotatedValues::add_literal(StateId from, const Value& value, const Place& place) {
  if (value.kind != Value::kString) return rules_.add_text(from, json_text(value));
  switch (place.notation) {
    case Notation::kText:
    case Notation::kElements:
      return add_plain_literal(from, value.text, place);
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

// A string that a grammar describes, without the mark behind it. In Python's notation JSON's rule has it.
Result<StateId> NotatedValues::add_grammar(StateId from, const Clauses& clauses, const Value& grammar,
                                           const Place& place) {
  if (place.notation == Notation::kPython) return rules_.new_state();
  const bool is_gemma = place.notation == Notation::kGemma, has_marks = !place.text_begin.empty();
  const std::string_view begin = is_gemma ? kQuote : std::string_view(place.text_begin);
  const std::string_view end = is_gemma ? kQuote : std::string_view(place.text_end);
  RuleWriter own;
  TRY(const RuleId root, write_lark(own, grammar.text, CharAutomaton::Spelling::kUtf8));
  TRY(const Rules texts, own.finish(root));
  size_t& work_left = parts_.grammar_work_left;
  work_left -= std::min(work_left, (own.n_states() + own.n_ranges()) * kWorkOfState);
  const auto others = rules_without(texts, is_gemma || has_marks ? end : std::string_view(place.stop), work_left);
  if (!others) return reader_.refuse(clauses, "$lark", others.error().message);
  const StateId to = rules_.new_state();
  rules_.add_call(rules_.add_text(from, begin), rules_.add_rules(*others), to);
  return rules_.add_text(to, end);
}

}  // namespace tern::grammar
