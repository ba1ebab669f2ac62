#include "grammar/schema/json_rules.h"

namespace tern::grammar {
namespace {

constexpr int kMaxDigits = 18;
constexpr int kMaxExponentDigits = 2;

const CharSet& hex_digits() {
  static const CharSet kSet = {{'0', '9'}, {'A', 'F'}, {'a', 'f'}};
  return kSet;
}

}  // namespace

template <class Write>
RuleId JsonRules::once(std::optional<RuleId>& known, const char* name, const Write& write) {
  if (known) return *known;
  known = rules_.new_rule(name);  // stored before it is written, as it may call itself
  const RuleId rule = *known;
  rules_.end(write(rules_.start_of(rule)));
  return rule;
}

StateId JsonRules::add(StateId from, RuleId rule) {
  const StateId to = rules_.new_state();
  rules_.add_call(from, rule, to);
  return to;
}

StateId JsonRules::add_colon(StateId from) {
  const StateId colon = rules_.add_text(from, ":");
  const StateId to = rules_.add_text(colon, " ");
  rules_.add_empty(colon, to);
  return to;
}

RuleId JsonRules::space() {
  return once(space_, "white space", [this](StateId start) {
    const StateId end = rules_.new_state();
    rules_.add_empty(start, end);
    rules_.add_bytes(start, ' ', ' ', end);
    const StateId line = rules_.add_text(start, "\n");
    rules_.add_empty(line, end);
    for (const auto& [byte, most] : {std::pair(' ', kMaxIndent), std::pair('\t', kMaxTabs)}) {
      StateId at = line;
      for (int i = 0; i < most; ++i) {
        at = rules_.add_text(at, std::string_view(&byte, 1));
        rules_.add_empty(at, end);
      }
    }
    return end;
  });
}

RuleId JsonRules::character() {
  return once(character_, "a string's character", [this](StateId start) {
    const StateId end = rules_.new_state();
    rules_.add_chars(start, CharSet{{0, 0x1F}, {'"', '"'}, {'\\', '\\'}}.inverted(), end);
    const StateId escape = rules_.add_text(start, "\\");
    rules_.add_chars(escape,
                     {{'"', '"'}, {'\\', '\\'}, {'/', '/'}, {'b', 'b'}, {'f', 'f'}, {'n', 'n'}, {'r', 'r'}, {'t', 't'}},
                     end);
    // \uXXXX: anything except D800 to DFFF, or a surrogate pair.
    const auto hex = [this](StateId from, const CharSet& set) {
      const StateId to = rules_.new_state();
      rules_.add_chars(from, set, to);
      return to;
    };
    const CharSet d = {{'D', 'D'}, {'d', 'd'}}, low = {{'0', '7'}};
    const CharSet& any = hex_digits();
    const CharSet first = {{'8', '9'}, {'A', 'B'}, {'a', 'b'}}, second = {{'C', 'F'}, {'c', 'f'}};
    const StateId code = rules_.add_text(escape, "u");
    rules_.add_empty(hex(hex(hex(hex(code, any.without(d)), any), any), any), end);
    rules_.add_empty(hex(hex(hex(hex(code, d), low), any), any), end);
    const StateId half = hex(hex(hex(hex(code, d), first), any), any);
    rules_.add_empty(hex(hex(hex(hex(rules_.add_text(half, "\\u"), d), second), any), any), end);
    return end;
  });
}

RuleId JsonRules::string() {
  return once(string_, "a string", [this](StateId start) {
    const StateId inside = rules_.add_text(start, "\"");
    rules_.add_call(inside, character(), inside);
    return rules_.add_text(inside, "\"");
  });
}

StateId JsonRules::add_digits(StateId from, int low, int high) {
  const StateId to = rules_.new_state();
  for (int i = 0; i < high; ++i) {
    if (i >= low) rules_.add_empty(from, to);
    const StateId next = rules_.new_state();
    rules_.add_bytes(from, '0', '9', next);
    from = next;
  }
  rules_.add_empty(from, to);
  return to;
}

StateId JsonRules::add_whole(StateId from) {
  const StateId sign = rules_.add_text(from, "-");
  rules_.add_empty(from, sign);
  const StateId first = rules_.new_state();
  rules_.add_bytes(sign, '1', '9', first);
  const StateId end = add_digits(first, 0, kMaxDigits - 1);
  rules_.add_bytes(sign, '0', '0', end);
  return end;
}

RuleId JsonRules::integer() {
  return once(integer_, "an integer", [this](StateId start) { return add_whole(start); });
}

RuleId JsonRules::number() {
  return once(number_, "a number", [this](StateId start) {
    const StateId whole = add_whole(start);
    const StateId fraction = add_digits(rules_.add_text(whole, "."), 1, kMaxDigits);
    rules_.add_empty(whole, fraction);
    const StateId e = rules_.new_state(), sign = rules_.new_state();
    rules_.add_chars(fraction, {{'E', 'E'}, {'e', 'e'}}, e);
    rules_.add_chars(e, {{'+', '+'}, {'-', '-'}}, sign);
    rules_.add_empty(e, sign);
    const StateId end = add_digits(sign, 1, kMaxExponentDigits);
    rules_.add_empty(fraction, end);
    return end;
  });
}

RuleId JsonRules::boolean() {
  return once(boolean_, "true or false", [this](StateId start) {
    const StateId end = rules_.add_text(start, "true");
    rules_.add_empty(rules_.add_text(start, "false"), end);
    return end;
  });
}

RuleId JsonRules::null() {
  return once(null_, "null", [this](StateId start) { return rules_.add_text(start, "null"); });
}

RuleId JsonRules::value() {
  return once(value_, "any value", [this](StateId start) {
    const StateId end = rules_.new_state();
    for (const RuleId rule : {object(), array(), string(), number(), boolean(), null()})
      rules_.add_call(start, rule, end);
    return end;
  });
}

RuleId JsonRules::list(std::optional<RuleId>& known, const char* name, bool is_object) {
  return once(known, name, [this, is_object](StateId start) {
    const StateId open = add_space(rules_.add_text(start, is_object ? "{" : "["));
    const StateId item = rules_.new_state();
    rules_.add_empty(open, item);
    const StateId last = add(is_object ? add_colon(add(item, string())) : item, value());
    rules_.add_empty(add_space(rules_.add_text(last, ",")), item);
    const StateId close = add_space(last);
    rules_.add_empty(open, close);
    return rules_.add_text(close, is_object ? "}" : "]");
  });
}

RuleId JsonRules::object() { return list(object_, "any object", true); }
RuleId JsonRules::array() { return list(array_, "any array", false); }

}  // namespace tern::grammar
