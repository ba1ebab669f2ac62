// Tool calls that are more than one JSON document: literal texts, JSON, and arguments in other notations, as rules.
//
// A description is a JSON object with the members "$calls", an item, and "$defs". An item is
//   "text"                                   this text
//   {"all": [item, …]}, {"any": [item, …]}   one after the other; one of them
//   {"some": item, "between": "text"}        the item once or more; with "most": 1, once
//   {"maybe": "text"}                        this text, or nothing
//   {"index": true}, {"id": true}            up to three digits; up to 64 letters, digits and signs of ids
//   {"json": schema}                         a JSON document
//   {"pairs": schema, "values": "text", "python", "gemma" or "elements", "key_begin": …, "key_end": …,
//    "key_end_other": …, "value_end": …, "pair_between": …}
//                                           an object's members in the notation of tern::MarkedCalls; with
//                                           "sorted": true, by their names; also "type_end", "text_begin", "text_end",
//                                           "value_end_name", "item"
#pragma once

#include <functional>

#include "base/result.h"
#include "grammar/rules/rules.h"
#include "grammar/rules/rules_without.h"
#include "grammar/schema/alternatives.h"
#include "grammar/schema/clauses.h"
#include "grammar/schema/json_rules.h"
#include "grammar/schema/json_value.h"

namespace tern::grammar {

// What writes a schema's rules. `rule_of` returns the rule for the JSON that all clauses allow.
struct SchemaRules {
  RuleWriter& rules;
  SchemaReader& reader;
  Alternatives& alternatives;
  JsonRules& json;
  std::function<RuleId(const Clauses&)> rule_of;
  size_t grammar_work_left = kMostGrammarWork;  // for strings that a grammar describes
};

// Writes a root rule with them.
using MakeRoot = std::function<Result<RuleId>(SchemaRules&)>;
Result<Rules> write_schema_with(const JsonValue& root, const MakeRoot& make);

bool is_call_description(const JsonValue& root);
Result<Rules> write_calls(const JsonValue& root);

}  // namespace tern::grammar
