#include "grammar/schema/schema.h"

#include <algorithm>

#include "grammar/rules/lark.h"
#include "grammar/schema/schema_writer.h"

namespace tern::grammar {
namespace {

using Value = JsonValue;

constexpr size_t kMaxLength = 16'384;  // a greater minLength is refused, a greater maxLength lowered

}  // namespace

Result<Rules> SchemaWriter::write(std::optional<std::string_view> end) {
  RuleId root = rule_of({reader_.clause_of(root_)});
  if (end) root = before(root, *end);
  return write_from(root);
}

Result<Rules> SchemaWriter::write_with(const MakeRoot& make) {
  SchemaRules parts = {rules_, reader_, alternatives_, json_,
                       [this](const Clauses& clauses) { return rule_of(clauses); }};
  TRY(const RuleId root, make(parts));
  return write_from(root);
}

Result<Rules> SchemaWriter::write_from(RuleId root) {
  while (!to_do_.empty() && !rules_.is_full()) {
    const Work next = std::move(to_do_.front());
    to_do_.pop_front();
    if (next.is_settled) {
      const StateId to = rules_.new_state();
      rules_.end(to);
      TRY_STATUS(write_types(next.clauses, rules_.start_of(next.rule), to));
    } else {
      TRY_STATUS(write_rule(next.clauses, next.rule));
    }
  }
  return rules_.finish(root);
}

RuleId SchemaWriter::before(RuleId rule, std::string_view end) {
  const RuleId whole = rules_.new_rule("a call");
  StateId at = json_.add(json_.add_space(rules_.start_of(whole)), rule);
  if (!end.empty()) at = rules_.add_text(json_.add_space(at), end);
  rules_.end(at);
  return whole;
}

RuleId SchemaWriter::rule_of(const Clauses& clauses) {
  const bool is_free = std::ranges::all_of(clauses, [](ClauseId id) { return id == kAnything; });
  return is_free ? json_.value() : later(clauses, false);
}

RuleId SchemaWriter::later(const Clauses& clauses, bool is_settled) {
  const auto [known, is_new] = known_.try_emplace({clauses, is_settled}, 0);
  if (is_new) {
    known->second = rules_.new_rule("the schema");
    to_do_.push_back({clauses, is_settled, known->second});
  }
  return known->second;
}

Result<void> SchemaWriter::write_rule(const Clauses& clauses, RuleId rule) {
  const StateId start = rules_.start_of(rule), end = rules_.new_state();
  rules_.end(end);
  TRY(const std::vector<Clauses> all, alternatives_.of(clauses));
  std::vector<const Value*> values;
  for (const Clauses& one : all) {
    TRY(const auto own, reader_.values(one));
    if (own) {
      values.insert(values.end(), own->begin(), own->end());
    } else if (one.empty()) {
      rules_.add_call(start, json_.value(), end);
    } else if (all.size() == 1) {
      TRY_STATUS(write_types(one, start, end));
    } else {
      rules_.add_call(start, later(one, true), end);
    }
  }
  write_values(values, start, end);
  return {};
}

// Writes texts as a tree, so that many of them are separated byte by byte; lists and objects may contain white space.
void SchemaWriter::write_values(std::span<const Value* const> values, StateId start, StateId end) {
  std::map<std::pair<StateId, char>, StateId> children;
  for (const Value* value : values) {
    if (value->kind == Value::kArray || value->kind == Value::kObject) {
      rules_.add_empty(write_value(start, *value), end);
      continue;
    }
    StateId at = start;
    for (const char c : json_text(*value)) {
      const auto [child, is_new] = children.try_emplace({at, c}, 0);
      if (is_new) child->second = rules_.add_text(at, std::string_view(&c, 1));
      at = child->second;
    }
    rules_.add_empty(at, end);
  }
}

StateId SchemaWriter::write_value(StateId from, const Value& value) {
  if (value.kind != Value::kArray && value.kind != Value::kObject) return rules_.add_text(from, json_text(value));
  const bool is_object = value.kind == Value::kObject;
  from = json_.add_space(rules_.add_text(from, is_object ? "{" : "["));
  for (size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) from = json_.add_space(rules_.add_text(from, ","));
    if (is_object) from = json_.add_colon(rules_.add_text(from, json_string(value.names[i])));
    from = write_value(from, value.items[i]);
  }
  if (!value.items.empty()) from = json_.add_space(from);
  return rules_.add_text(from, is_object ? "}" : "]");
}

Result<void> SchemaWriter::write_types(const Clauses& clauses, StateId start, StateId end) {
  const uint8_t types = reader_.types(clauses, /*meant=*/true);
  if ((types & kNullType) && !reader_.excludes(clauses, Value::kNull)) rules_.add_call(start, json_.null(), end);
  if (types & kBooleanType) {
    static const Value kTrue = {.kind = Value::kTrue}, kFalse = {.kind = Value::kFalse};
    std::vector<const Value*> values;
    for (const Value* value : {&kTrue, &kFalse}) {
      if (!reader_.excludes(clauses, value->kind)) values.push_back(value);
    }
    values.size() == 2 ? rules_.add_call(start, json_.boolean(), end) : write_values(values, start, end);
  }
  if (types & kNumberTypes) {
    TRY_STATUS(write_number(clauses, (types & kFractionType) == 0, (types & kIntegerType) == 0, start, end));
  }
  if (types & kStringType) TRY_STATUS(write_string(clauses, start, end));
  for (const uint8_t type : {kArrayType, kObjectType}) {
    if ((types & type) == 0) continue;
    for (const ClauseId id : clauses) {
      for (const Value* value : reader_.at(id).no_values) {
        if (type_of(*value) == type) {
          return reader_.refuse(clauses, "not", "a reply cannot be held to differ from a list or an object");
        }
      }
    }
    TRY_STATUS(type == kArrayType ? write_array(clauses, start, end) : write_object(clauses, start, end));
  }
  return {};
}

Result<void> SchemaWriter::write_number(const Clauses& clauses, bool is_integer, bool is_fraction, StateId start,
                                        StateId end) {
  NumberBounds bounds = reader_.bounds(clauses);
  std::vector<Decimal> excluded;
  for (const ClauseId id : clauses) {
    for (const Value* value : reader_.at(id).no_values) {
      if (value->kind != Value::kNumber) continue;
      TRY(Decimal number, Decimal::of(value->text));
      excluded.push_back(std::move(number));
    }
  }
  if (!bounds.any() && excluded.empty() && !is_fraction) {
    rules_.add_call(start, is_integer ? json_.integer() : json_.number(), end);
    return {};
  }
  if (is_integer) bounds.meet({.multiple = Multiple{}});
  if (is_fraction) bounds.meet({.no_multiples = {Multiple{}}});
  // Numbers that are excluded divide the range.
  std::ranges::sort(excluded, [](const Decimal& a, const Decimal& b) { return Decimal::compare(a, b) < 0; });
  std::optional<NumberBounds::Bound> low;
  for (size_t i = 0; i <= excluded.size(); ++i) {
    NumberBounds range = bounds;
    if (low) range.add_low(*low);
    if (i < excluded.size()) range.add_high({excluded[i], false});
    if (i < excluded.size()) low = NumberBounds::Bound{excluded[i], false};
    if (range.is_empty()) continue;
    const auto last = add_number(rules_, start, range);
    if (!last) return reader_.refuse(clauses, bounds.multiple ? "multipleOf" : "", last.error().message);
    rules_.add_empty(*last, end);
  }
  return {};
}

Result<void> SchemaWriter::write_string(const Clauses& clauses, StateId start, StateId end) {
  TRY(const RuleId rule, string_rule(clauses));
  rules_.add_call(start, rule, end);
  return {};
}

// Strings of the same form share a rule.
Result<RuleId> SchemaWriter::string_rule(const Clauses& clauses) {
  TRY(const Value* grammar, reader_.grammar(clauses));
  if (grammar) return grammar_rule(clauses, *grammar);
  const Lengths lengths = reader_.lengths(clauses, &Clause::length);
  std::string key = format_text("{},{}", lengths.low, lengths.high.value_or(SIZE_MAX));
  bool is_matched = false;
  for (const ClauseId id : clauses) {
    const Clause& own = reader_.at(id);
    for (const Clause::Text& text : own.texts) {
      key += (text.is_format ? "f" : "p") + std::string(text.is_negated ? "!" : "=") + text.value->text + '\0';
    }
    for (const Value* value : own.no_values) {
      if (value->kind == Value::kString) key += "v" + value->text + '\0';
    }
    is_matched |= !own.texts.empty() || !own.no_values.empty();
  }
  if (!is_matched && lengths.low == 0 && !lengths.high) return json_.string();
  if (const auto known = strings_.find(key); known != strings_.end()) return known->second;
  if (lengths.low > kMaxLength) {
    return reader_.refuse(clauses, "minLength",
                          format_text("a reply can be held to at least {} characters, no more", kMaxLength));
  }
  const RuleId rule = rules_.new_rule("a string");
  strings_.emplace(std::move(key), rule);
  const StateId inside = rules_.add_text(rules_.start_of(rule), "\"");
  TRY(const auto texts, reader_.texts(clauses, /*is_wide=*/false));
  StateId last;
  if (texts) {
    last = texts->write(rules_, inside, CharAutomaton::Spelling::kJson);
  } else {
    last = rules_.new_state();
    const size_t high = std::min(lengths.high.value_or(lengths.low), kMaxLength);
    StateId from = inside;
    for (size_t n = 0; n <= high && !rules_.is_full(); ++n) {
      if (n >= lengths.low) rules_.add_empty(from, last);
      if (n < high) from = json_.add(from, json_.character());
    }
    if (!lengths.high) rules_.add_call(from, json_.character(), from);
  }
  rules_.end(rules_.add_text(last, "\""));
  return rule;
}

Result<RuleId> SchemaWriter::grammar_rule(const Clauses& clauses, const Value& grammar) {
  const auto [known, is_new] = strings_.try_emplace("g" + grammar.text, 0);
  if (!is_new) return known->second;
  known->second = rules_.new_rule("a string");
  const auto texts = write_lark(rules_, grammar.text, CharAutomaton::Spelling::kJson);
  if (!texts) {
    auto error = reader_.refuse(clauses, "$lark", texts.error().message);
    error.error().code = texts.error().code;
    return error;
  }
  const StateId inside = rules_.add_text(rules_.start_of(known->second), "\"");
  rules_.end(rules_.add_text(json_.add(inside, *texts), "\""));
  return known->second;
}

// All values that clauses without choices of their own allow, if they are few.
Result<std::optional<std::vector<const Value*>>> SchemaWriter::finite_values(const Clauses& clauses, size_t most) {
  static const Value kPlain[] = {{.kind = Value::kNull}, {.kind = Value::kTrue}, {.kind = Value::kFalse}};
  TRY(const std::vector<Clauses> all, alternatives_.of(clauses));
  std::vector<const Value*> out;
  std::set<std::string> known;
  for (const Clauses& one : all) {
    TRY(auto own, reader_.values(one));
    const uint8_t types = reader_.types(one, /*meant=*/true);
    if (!own && (types & ~(kNullType | kBooleanType)) != 0) return std::nullopt;
    if (!own) {
      own.emplace();
      for (const Value& value : kPlain) {
        if ((types & type_of(value)) && !reader_.excludes(one, value.kind)) own->push_back(&value);
      }
    }
    for (const Value* value : *own) {
      if (known.insert(canonical_text(*value)).second) out.push_back(value);
    }
    if (out.size() > most) return std::nullopt;
  }
  return out;
}

namespace {

Result<Rules> parse(std::string_view schema_json, std::optional<std::string_view> end) {
  TRY(const Value root, read_json(schema_json));
  if (!is_schema(root)) return fail(ErrorCode::kInvalidArgument, "a schema is an object, true or false");
  if (end && is_call_description(root)) return write_calls(root);
  return SchemaWriter(root).write(end);
}

}  // namespace

Result<Rules> write_schema_with(const JsonValue& root, const MakeRoot& make) {
  return SchemaWriter(root).write_with(make);
}

Result<Rules> parse_schema(std::string_view schema_json) { return parse(schema_json, std::nullopt); }

Result<Rules> parse_schema_before(std::string_view schema_json, std::string_view end) {
  return parse(schema_json, end);
}

Result<Rules> any_json_object() {
  RuleWriter rules;
  const RuleId root = JsonRules(rules).object();
  return rules.finish(root);
}

}  // namespace tern::grammar
