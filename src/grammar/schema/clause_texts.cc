// SchemaReader: what clauses say about strings.
#include <algorithm>

#include "grammar/rules/utf8_chars.h"
#include "grammar/schema/clauses.h"
#include "grammar/schema/formats.h"

namespace tern::grammar {
Result<const CharAutomaton*> SchemaReader::parsed(const JsonValue& place, std::string_view keyword,
                                                  const std::string& key, std::string_view pattern, RegexMatch match) {
  if (const auto known = automata_.find(key); known != automata_.end()) return &known->second;
  auto made = parse_regex(pattern, match);
  if (!made) {
    auto error = refuse(place, keyword, made.error().message);
    error.error().code = made.error().code;
    return error;
  }
  return &automata_.emplace(key, *std::move(made)).first->second;
}

Result<const CharAutomaton*> SchemaReader::pattern(const JsonValue& schema, const std::string& text) {
  return parsed(schema, schema.find("pattern") ? "pattern" : "", "p" + text, text, RegexMatch::kAnywhere);
}

// The texts that a pattern does not match.
Result<const CharAutomaton*> SchemaReader::other_than(const JsonValue& schema, const std::string& text) {
  const std::string key = "n" + text;
  if (const auto known = automata_.find(key); known != automata_.end()) return &known->second;
  TRY(const CharAutomaton* own, pattern(schema, text));
  return &automata_.emplace(key, own->inverted()).first->second;
}

// Null: a format that Tern does not know, which is an annotation.
Result<const CharAutomaton*> SchemaReader::automaton_of(const JsonValue& place, const Clause::Text& text,
                                                        bool is_wide) {
  if (!text.is_format) return text.is_negated ? other_than(place, text.value->text) : pattern(place, text.value->text);
  const Format* format = find_format(text.value->text);
  if (!format) return nullptr;
  const std::string_view pattern = is_wide ? format->widest() : format->pattern;
  const std::string key = (is_wide ? "w" : "f") + text.value->text;
  TRY(const CharAutomaton* own, parsed(place, "format", key, pattern, RegexMatch::kWhole));
  if (!text.is_negated) return own;
  const auto [known, is_new] = automata_.try_emplace("i" + key);
  if (is_new) known->second = own->inverted();
  return &known->second;
}

Result<const JsonValue*> SchemaReader::grammar(const Clauses& clauses) const {
  const JsonValue* found = nullptr;
  for (const ClauseId id : clauses) {
    const JsonValue* own = at(id).grammar;
    if (!own) continue;
    if (found && found->text != own->text) return refuse(*at(id).schema, "$lark", "a text has one grammar only");
    found = own;
  }
  if (!found) return nullptr;
  const Lengths length = lengths(clauses, &Clause::length);
  const auto says_more = [this](ClauseId id) { return !at(id).texts.empty() || !at(id).no_values.empty(); };
  if (length.low > 0 || length.high || std::ranges::any_of(clauses, says_more))
    return refuse(clauses, "$lark", "a text cannot be held to a grammar and to something else");
  return found;
}

Result<std::optional<CharAutomaton>> SchemaReader::texts(const Clauses& clauses, bool is_wide) {
  if (std::ranges::any_of(clauses, [this](ClauseId id) { return at(id).grammar != nullptr; }))
    return refuse(clauses, "$lark", "names cannot be held to a grammar");
  std::optional<CharAutomaton> out;
  const auto meet = [&](const CharAutomaton& own) { out = out ? out->common(own) : own; };
  std::vector<std::u32string> no_values;
  for (const ClauseId id : clauses) {
    for (const Clause::Text& text : at(id).texts) {
      TRY(const CharAutomaton* own, automaton_of(*at(id).schema, text, is_wide != text.is_negated));
      if (!own) continue;
      meet(*own);
      if (out->is_full()) {
        return refuse(*at(id).schema, text.is_format ? "format" : "pattern",
                      "this, or this and others together, takes too many states");
      }
    }
    for (const JsonValue* value : at(id).no_values) {
      if (value->kind == JsonValue::kString) no_values.push_back(chars_of(value->text));
    }
  }
  if (!no_values.empty()) meet(CharAutomaton::all_but(no_values));
  const Lengths length = lengths(clauses, &Clause::length);
  if (!out || (length.low == 0 && !length.high)) return out;
  const auto [shortest, longest] = out->lengths();
  const bool is_long_enough = shortest >= length.low,
             is_short_enough = longest && length.high && *longest <= *length.high;
  if (is_long_enough && (!length.high || is_short_enough)) return out;
  const size_t high = std::min(length.high.value_or(kMaxMatchedLength), std::max(kMaxMatchedLength, length.low));
  if (length.low > high) return CharAutomaton();
  const bool is_limited = length.high && !is_short_enough;
  meet(CharAutomaton::repeated(CharSet::all(), static_cast<int>(length.low), is_limited ? static_cast<int>(high) : -1));
  if (out->is_full()) return refuse(clauses, "", "its pattern and lengths together take too many states");
  return out;
}

}  // namespace tern::grammar
