#include "grammar/schema/call_rules.h"

#include <algorithm>
#include <array>

#include "grammar/rules/utf8_chars.h"
#include "grammar/schema/notated_values.h"

namespace tern::grammar {
namespace {

using Value = JsonValue;

constexpr int kMostIdChars = 64, kMostIndexDigits = 3;

class CallWriter {
 public:
  CallWriter(const Value& root, SchemaRules& parts) : root_(root), parts_(parts), rules_(parts.rules) {}

  Result<RuleId> write() {
    const RuleId rule = rules_.new_rule("a call");
    TRY(const StateId end, add(rules_.start_of(rule), *root_.find("$calls")));
    rules_.end(end);
    return rule;
  }

 private:
  static std::string_view text_of(const Value& item, std::string_view name) {
    const Value* value = item.find(name);
    return value ? std::string_view(value->text) : std::string_view();
  }

  // Adds the item's texts at `from`. Returns the state after them.
  Result<StateId> add(StateId from, const Value& item) {
    if (item.kind == Value::kString) return rules_.add_text(from, item.text);
    if (const Value* all = item.find("all")) {
      for (const Value& part : all->items) {
        TRY(from, add(from, part));
      }
      return from;
    }
    if (const Value* any = item.find("any")) {
      const StateId to = rules_.new_state();
      for (const Value& part : any->items) {
        const StateId own = rules_.new_state();
        rules_.add_empty(from, own);
        TRY(const StateId end, add(own, part));
        rules_.add_empty(end, to);
      }
      return to;
    }
    if (const Value* some = item.find("some")) return add_some(from, *some, item);
    if (item.find("maybe")) {
      const StateId to = rules_.add_text(from, text_of(item, "maybe"));
      rules_.add_empty(from, to);
      return to;
    }
    if (item.find("index")) return add_chars(from, CharSet{{'0', '9'}}, kMostIndexDigits);
    if (item.find("id")) return add_chars(from, name_chars(), kMostIdChars);
    if (const Value* json = item.find("json")) {
      return parts_.json.add(from, parts_.rule_of({parts_.reader.clause_of(*json)}));
    }
    return add_pairs(from, item);
  }

  // One character of the set up to `most`.
  StateId add_chars(StateId from, const CharSet& set, int most) {
    return CharAutomaton::repeated(set, 1, most).write(rules_, from, CharAutomaton::Spelling::kUtf8);
  }

  Result<StateId> add_some(StateId from, const Value& item, const Value& holder) {
    const StateId start = rules_.new_state();
    rules_.add_empty(from, start);
    TRY(const StateId end, add(start, item));
    if (!holder.find("most")) rules_.add_empty(rules_.add_text(end, text_of(holder, "between")), start);
    const StateId to = rules_.new_state();
    rules_.add_empty(end, to);
    return to;
  }

  Result<StateId> add_pairs(StateId from, const Value& item) {
    const std::string_view values = text_of(item, "values");
    const PairMarks marks = {.notation = values == "text"     ? Notation::kText
                                         : values == "python" ? Notation::kPython
                                         : values == "gemma"  ? Notation::kGemma
                                                              : Notation::kElements,
                             .key_begin = text_of(item, "key_begin"),
                             .key_end = text_of(item, "key_end"),
                             .key_end_other = text_of(item, "key_end_other"),
                             .value_end = text_of(item, "value_end"),
                             .between = text_of(item, "pair_between"),
                             .sorts = item.find("sorted") != nullptr,
                             .type_end = text_of(item, "type_end"),
                             .text_begin = text_of(item, "text_begin"),
                             .text_end = text_of(item, "text_end"),
                             .value_end_name = text_of(item, "value_end_name"),
                             .item = text_of(item, "item")};
    NotatedValues notated(parts_);
    TRY(const StateId end, notated.add_object(from, {parts_.reader.clause_of(*item.find("pairs"))}, marks));
    TRY_STATUS(notated.finish());
    return end;
  }

  const Value& root_;
  SchemaRules& parts_;
  RuleWriter& rules_;
};

}  // namespace

bool is_call_description(const JsonValue& root) { return root.find("$calls") != nullptr; }

Result<Rules> write_calls(const JsonValue& root) {
  return write_schema_with(root, [&root](SchemaRules& parts) { return CallWriter(root, parts).write(); });
}

}  // namespace tern::grammar
