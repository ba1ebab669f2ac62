#include "grammar/schema/schema.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "grammar/rules/utf8_chars.h"
#include "grammar/schema/call_rules.h"
#include "grammar/schema/json_rules.h"
#include "grammar/schema/schema_exclusive.h"
#include "grammar/schema/schema_terms.h"

namespace tern::grammar {
namespace {

// Limits on minimums, which are refused above them; greater maximums are lowered to them.
constexpr size_t kMaxItems = 4096;
constexpr size_t kMaxLength = 16'384;
constexpr size_t kMaxMatchedLength = 512;  // with a pattern; longer only if minLength requires it
constexpr size_t kMaxCounted = 2000;       // limit on properties times distinct counts of them

using Value = JsonValue;

class SchemaWriter {
 public:
  explicit SchemaWriter(const Value& root) : root_(root), reader_(root), json_(rules_) {}

  // The rule that `make` writes, with those that it needs.
  Result<Rules> write_with(const MakeRoot& make) {
    SchemaRules parts = {rules_, reader_, json_, [this](const Terms& terms) { return rule_of(terms); }};
    TRY(const RuleId root, make(parts));
    return write_from(root);
  }

  // With `end`, white space may come before the document, and white space and `end` follow it.
  Result<Rules> write(std::optional<std::string_view> end = {}) {
    TRY(RuleId root, rule_of({{&root_}}));
    if (end) root = before(root, *end);
    return write_from(root);
  }

 private:
  Result<Rules> write_from(RuleId root) {
    while (!to_do_.empty() && !rules_.is_full()) {
      const auto [terms, rule] = std::move(to_do_.front());
      to_do_.pop_front();
      TRY_STATUS(write_rule(terms, rule));
    }
    return rules_.finish(root);
  }

  RuleId before(RuleId rule, std::string_view end) {
    const RuleId whole = rules_.new_rule("a call");
    StateId at = json_.add(json_.add_space(rules_.start_of(whole)), rule);
    if (!end.empty()) at = rules_.add_text(json_.add_space(at), end);
    rules_.end(at);
    return whole;
  }

  // The rule for what all terms allow. Its contents are written later.
  Result<RuleId> rule_of(const Terms& terms) {
    TRY(Terms flat, reader_.flatten(terms));
    if (flat.empty()) return json_.value();
    const auto [known, is_new] = known_.try_emplace(flat, 0);
    if (is_new) {
      known->second = rules_.new_rule("the schema at '" + pointer_to(root_, *flat[0].schema) + "'");
      to_do_.emplace_back(std::move(flat), known->second);
    }
    return known->second;
  }

  Result<void> write_rule(const Terms& terms, RuleId rule) {
    const StateId start = rules_.start_of(rule), end = rules_.new_state();
    rules_.end(end);
    if (std::ranges::any_of(terms, [](const Term& term) { return term.schema->kind == Value::kFalse; })) return {};
    TRY(const auto values, reader_.values(terms));
    if (values) return write_values(*values, start, end);
    for (const Term& term : terms) {
      for (const auto& [keyword, bit] : {std::pair("anyOf", Term::kAnyOf), std::pair("oneOf", Term::kOneOf)}) {
        const Value* branches = (term.without & bit) != 0 ? nullptr : term.schema->find(keyword);
        if (branches) return write_branches(terms, term, *branches, bit, start, end);
      }
    }
    return write_types(terms, start, end);
  }

  // Writes texts as a tree, so that many of them are separated byte by byte; lists and objects may contain white space.
  Result<void> write_values(std::span<const Value* const> values, StateId start, StateId end) {
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
    return {};
  }

  StateId write_value(StateId from, const Value& value) {
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

  Result<void> write_branches(const Terms& terms, const Term& choice, const Value& branches, uint8_t bit, StateId start,
                              StateId end) {
    std::vector<Terms> said;
    for (const Value& branch : branches.items) {
      Terms all = terms;
      for (Term& term : all) {
        if (term == choice) term.without |= bit;
      }
      all.push_back({&branch});
      said.push_back(std::move(all));
    }
    if (bit == Term::kOneOf) TRY_STATUS(check_exclusive(reader_, *choice.schema, said, branches));
    for (const Terms& all : said) {
      TRY(const RuleId rule, rule_of(all));
      rules_.add_call(start, rule, end);
    }
    return {};
  }

  Result<void> write_types(const Terms& terms, StateId start, StateId end) {
    TRY(const uint8_t types, reader_.types(terms));
    if (types & kNullType) rules_.add_call(start, json_.null(), end);
    if (types & kBooleanType) rules_.add_call(start, json_.boolean(), end);
    if (types & kIntegerType) TRY_STATUS(write_number(terms, (types & kFractionType) == 0, start, end));
    if (types & kStringType) TRY_STATUS(write_string(terms, start, end));
    if (types & kArrayType) TRY_STATUS(write_array(terms, start, end));
    if (types & kObjectType) TRY_STATUS(write_object(terms, start, end));
    return {};
  }

  // Adds the place of `terms` to the error.
  std::unexpected<Error> at(const Terms& terms, const Error& error) const {
    return reader_.refuse(*terms[0].schema, "", error.message);
  }

  Result<void> write_number(const Terms& terms, bool is_integer, StateId start, StateId end) {
    TRY(NumberBounds bounds, reader_.bounds(terms));
    if (!bounds.any()) {
      rules_.add_call(start, is_integer ? json_.integer() : json_.number(), end);
      return {};
    }
    bounds.is_integer = is_integer || bounds.multiple_of != 1;
    const auto last = add_number(rules_, start, bounds);
    if (!last) return at(terms, last.error());
    rules_.add_empty(*last, end);
    return {};
  }

  Result<void> write_string(const Terms& terms, StateId start, StateId end) {
    TRY(Lengths lengths, reader_.lengths(terms, "minLength", "maxLength"));
    TRY(auto automaton, reader_.texts(terms));
    if (lengths.low > kMaxLength) {
      return at(terms, {ErrorCode::kNotSupported, format_text("a string of at least {} characters; {} can be asked for",
                                                              lengths.low, kMaxLength)});
    }
    const bool is_bounded = lengths.low > 0 || lengths.high;
    if (!automaton && !is_bounded) {
      rules_.add_call(start, json_.string(), end);
      return {};
    }
    const size_t most = std::max(automaton ? kMaxMatchedLength : kMaxLength, lengths.low);
    if (lengths.high) lengths.high = std::min(*lengths.high, most);
    StateId inside = rules_.add_text(start, "\"");
    if (automaton) {
      if (is_bounded) {
        const int high = lengths.high ? static_cast<int>(*lengths.high) : -1;
        automaton = automaton->common(CharAutomaton::repeated(CharSet::all(), static_cast<int>(lengths.low), high));
      }
      if (automaton->is_full())
        return at(terms, {ErrorCode::kNotSupported, "its pattern and lengths together take too many states"});
      inside = automaton->write(rules_, inside, CharAutomaton::Spelling::kJson);
    } else {
      inside = repeat(inside, lengths, [this](StateId from, size_t) { return json_.add(from, json_.character()); });
    }
    rules_.add_empty(rules_.add_text(inside, "\""), end);
    return {};
  }

  // Repeats what add(from, i) writes, as often as `lengths` allows.
  template <class Add>
  StateId repeat(StateId from, const Lengths& lengths, const Add& add) {
    const StateId to = rules_.new_state();
    const size_t n = std::max(lengths.low, lengths.high.value_or(0));
    for (size_t i = 0; i < n && !rules_.is_full(); ++i) {
      if (i >= lengths.low) rules_.add_empty(from, to);
      from = add(from, i);
    }
    if (!lengths.high) rules_.add_empty(add(from, n), from);
    if (lengths.high.value_or(n) >= lengths.low) rules_.add_empty(from, to);
    return to;
  }

  Result<void> write_array(const Terms& terms, StateId start, StateId end) {
    TRY(Lengths lengths, reader_.lengths(terms, "minItems", "maxItems"));
    if (lengths.low > kMaxItems) {
      return at(terms, {ErrorCode::kNotSupported,
                        format_text("an array of at least {} items; {} can be asked for", lengths.low, kMaxItems)});
    }
    if (lengths.high) lengths.high = std::min(*lengths.high, kMaxItems);
    if (lengths.high && *lengths.high < lengths.low) return {};
    size_t n_prefix = 0;
    bool has_items = false;
    for (const Term& term : terms) {
      const Value* prefix = term.schema->find("prefixItems");
      n_prefix = std::max(n_prefix, prefix ? prefix->items.size() : 0);
      has_items = has_items || term.schema->find("items");
    }
    if (!has_items && n_prefix > 0)
      lengths.high = std::min(lengths.high.value_or(kMaxItems), std::max(n_prefix, lengths.low));
    TRY(const RuleId rest, rule_of(reader_.item(terms, n_prefix)));
    std::vector<RuleId> prefix;
    for (size_t i = 0; i < std::min(n_prefix, kMaxItems); ++i) {
      TRY(const RuleId rule, rule_of(reader_.item(terms, i)));
      prefix.push_back(rule);
    }
    const StateId open = json_.add_space(rules_.add_text(start, "["));
    const StateId close = rules_.new_state();  // after white space
    if (lengths.low == 0) rules_.add_empty(open, close);
    const size_t most = lengths.high.value_or(std::max({n_prefix, lengths.low, size_t{1}}));
    StateId from = open;
    for (size_t i = 0; i < most && !rules_.is_full(); ++i) {
      if (i > 0) from = json_.add_space(rules_.add_text(from, ","));
      from = json_.add(from, i < prefix.size() ? prefix[i] : rest);
      if (i + 1 >= lengths.low) rules_.add_empty(json_.add_space(from), close);
    }
    if (!lengths.high) {
      const StateId next = json_.add_space(rules_.add_text(from, ","));
      rules_.add_call(next, rest, from);
    }
    rules_.add_empty(rules_.add_text(close, "]"), end);
    return {};
  }

  struct Property {
    std::string name;
    RuleId rule;
    bool is_required;
  };

  // The properties that the schema declares, in its order, then those that it only requires.
  Result<std::vector<Property>> properties(const Terms& terms) {
    std::vector<std::string> names = reader_.declared_properties(terms);
    const std::vector<std::string> required = reader_.required(terms);
    names.insert(names.end(), required.begin(), required.end());
    std::vector<Property> out;
    std::set<std::string> known;
    for (const std::string& name : names) {
      if (!known.insert(name).second) continue;
      TRY(const RuleId rule, rule_of(reader_.property(terms, name)));
      out.push_back({name, rule, std::ranges::binary_search(required, name)});
    }
    return out;
  }

  // The rule for a property that the schema does not name, including its name; nullopt: none is allowed.
  Result<std::optional<RuleId>> other_property(const Terms& terms, std::span<const Property> named) {
    const bool is_open = reader_.asks_for_others(terms) || reader_.declared_properties(terms).empty();
    if (!is_open || reader_.forbids_others(terms)) return std::nullopt;
    Terms asked;
    for (const Term& term : terms) {
      if (const Value* own = term.schema->find("additionalProperties")) asked.push_back({own});
    }
    TRY(const RuleId value, rule_of(asked));
    const RuleId rule = rules_.new_rule("another property");
    const StateId start = rules_.start_of(rule), end = rules_.new_state();
    rules_.end(end);
    StateId name = 0;
    if (named.empty()) {
      name = json_.add(start, json_.string());
    } else {
      std::vector<std::u32string> names;
      for (const Property& property : named) {
        std::u32string& chars = names.emplace_back();
        for (std::string_view rest = property.name; const auto c = take_char(rest);) chars += *c;
      }
      const StateId inside = rules_.add_text(start, "\"");
      name = rules_.add_text(CharAutomaton::all_but(names).write(rules_, inside, CharAutomaton::Spelling::kJson), "\"");
    }
    rules_.add_call(json_.add_colon(name), value, end);
    return rule;
  }

  // Uses a state for each number of named properties passed, and of properties written, as far as the counts matter.
  Result<void> write_object(const Terms& terms, StateId start, StateId end) {
    TRY(const Lengths lengths, reader_.lengths(terms, "minProperties", "maxProperties"));
    TRY(const std::vector<Property> named, properties(terms));
    TRY(auto other, other_property(terms, named));
    // Unnamed properties may repeat a name and then count once, so only the first is sure to add to the count.
    const auto n_required = static_cast<size_t>(std::ranges::count(named, true, &Property::is_required));
    if (other && lengths.low > n_required + 1) {
      if (lengths.low > named.size()) {
        return at(terms, {ErrorCode::kNotSupported,
                          "minProperties: a reply cannot be held to several properties that the schema does not name"});
      }
      other = std::nullopt;
    }
    size_t cap = std::max(lengths.low, size_t{1});
    const size_t most = other ? kMaxCounted : named.size();
    if (lengths.high && *lengths.high < most) cap = std::max(cap, *lengths.high + 1);
    if (cap > 1 && (named.size() + 1) * cap > kMaxCounted) {
      return at(terms, {ErrorCode::kNotSupported,
                        format_text("counting so many properties takes more than {} states", kMaxCounted)});
    }
    std::vector<StateId> here(cap + 1), next(cap + 1);
    for (StateId& state : here) state = rules_.new_state();
    rules_.add_empty(json_.add_space(rules_.add_text(start, "{")), here[0]);
    // The state before a property, after its comma.
    const auto before = [&](size_t n) {
      const StateId state = rules_.new_state();
      const StateId from = n == 0 ? here[0] : json_.add_space(rules_.add_text(here[n], ","));
      rules_.add_empty(from, state);
      return state;
    };
    const bool is_counted = cap > 1;
    for (const Property& property : named) {
      for (StateId& state : next) state = rules_.new_state();
      // Without counting, a property is written once, for use with and without a comma before it.
      std::optional<StateId> shared;
      for (size_t n = 0; n <= cap && !rules_.is_full(); ++n) {
        if (!property.is_required) rules_.add_empty(here[n], next[n]);
        const StateId from = before(n), to = next[std::min(n + 1, cap)];
        if (shared && !is_counted) {
          rules_.add_empty(from, *shared);
          continue;
        }
        shared = from;
        rules_.add_call(json_.add_colon(rules_.add_text(from, json_string(property.name))), property.rule, to);
      }
      here.swap(next);
    }
    for (size_t n = 0; other && n <= cap; ++n) rules_.add_call(before(n), *other, here[std::min(n + 1, cap)]);
    for (size_t n = 0; n <= cap; ++n) {
      const bool is_enough = n >= lengths.low, is_too_many = lengths.high && n > *lengths.high;
      if (!is_enough || is_too_many) continue;
      const StateId last = n == 0 ? here[0] : json_.add_space(here[n]);
      rules_.add_empty(rules_.add_text(last, "}"), end);
    }
    return {};
  }

  const Value& root_;
  SchemaReader reader_;
  RuleWriter rules_;
  JsonRules json_;
  std::map<Terms, RuleId> known_;
  std::deque<std::pair<Terms, RuleId>> to_do_;
};

Result<Rules> parse(std::string_view schema_json, std::optional<std::string_view> end) {
  TRY(const Value root, read_json(schema_json));
  if (root.kind != Value::kObject && root.kind != Value::kTrue && root.kind != Value::kFalse) {
    return fail(ErrorCode::kInvalidArgument, "a schema is an object, true or false");
  }
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
