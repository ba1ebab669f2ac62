// SchemaReader: the keywords for arrays and objects, and those that combine schemas.
#include <algorithm>

#include "grammar/schema/clauses.h"

namespace tern::grammar {
namespace {

using Kind = JsonValue::Kind;

}  // namespace

// Draft 2020-12 has prefixItems and items, earlier ones a list in `items`, and additionalItems.
void SchemaReader::read_arrays(const JsonValue& schema, Clause& out) {
  const JsonValue* items = schema.find("items");
  const JsonValue* prefix = schema.find("prefixItems");
  if (items && items->kind == Kind::kArray) {
    prefix = items;
    items = schema.find("additionalItems");
  }
  for (size_t i = 0; prefix && i < prefix->items.size(); ++i) out.prefix.push_back(clause_of(prefix->items[i]));
  if (items) out.items = clause_of(*items);
  out.says_items = items != nullptr;
  if (const JsonValue* rest = schema.find("unevaluatedItems")) out.unevaluated_items = clause_of(*rest);
  const JsonValue* unique = schema.find("uniqueItems");
  out.is_unique = unique && unique->kind == Kind::kTrue;
  if (const JsonValue* contained = schema.find("contains")) {
    const JsonValue* least = schema.find("minContains");
    const JsonValue* most = schema.find("maxContains");
    out.contains.push_back(
        {clause_of(*contained), 0, {least ? count_of(*least).value_or(1) : 1, most ? count_of(*most) : std::nullopt}});
  }
}

void SchemaReader::read_objects(const JsonValue& schema, Clause& out) {
  out.properties = schema.find("properties");
  out.patterns = schema.find("patternProperties");
  if (const JsonValue* others = schema.find("additionalProperties")) {
    out.other_properties = clause_of(*others);
    out.says_others = true;
  }
  if (const JsonValue* rest = schema.find("unevaluatedProperties")) out.unevaluated_properties = clause_of(*rest);
  if (const JsonValue* names = schema.find("propertyNames")) out.names = clause_of(*names);
  if (const JsonValue* names = schema.find("required")) {
    for (const JsonValue& name : names->items) out.required.emplace_back(name.text);
  }
}

void SchemaReader::read_choices(const JsonValue& schema, Clause& out) {
  if (const JsonValue* all = schema.find("allOf")) {
    for (const JsonValue& one : all->items) out.all.push_back(clause_of(one));
  }
  if (const JsonValue* other = schema.find("not")) out.all.push_back(clause_of(*other, true));
  if (const JsonValue* any = schema.find("anyOf")) {
    Clauses& options = out.choices.emplace_back();
    for (const JsonValue& one : any->items) options.push_back(clause_of(one));
  }
  if (const JsonValue* one = schema.find("oneOf")) out.choices.push_back(one_of(schema, *one));
  if (const JsonValue* condition = schema.find("if")) {
    const JsonValue* yes = schema.find("then");
    const JsonValue* no = schema.find("else");
    if (yes || no) {
      Clause holds = {.schema = &schema, .all = {clause_of(*condition)}};
      Clause fails = {.schema = &schema, .all = {clause_of(*condition, true)}};
      if (yes) holds.all.push_back(clause_of(*yes));
      if (no) fails.all.push_back(clause_of(*no));
      const ClauseId first = add(std::move(holds));
      out.choices.push_back({first, add(std::move(fails))});
    }
  }
  read_dependencies(schema, out);
}

// Exactly one branch holds: it does, and none of the others.
Clauses SchemaReader::one_of(const JsonValue& schema, const JsonValue& branches) {
  if (branches.items.size() == 1) return {clause_of(branches.items[0])};
  Clauses options;
  for (const JsonValue& branch : branches.items) {
    Clause option = {.schema = &schema, .all = {clause_of(branch)}};
    for (const JsonValue& other : branches.items) {
      if (&other != &branch) option.all.push_back(clause_of(other, true));
    }
    options.push_back(add(std::move(option)));
  }
  return options;
}

// Either the property is missing, or what it requires holds.
void SchemaReader::read_dependencies(const JsonValue& schema, Clause& out) {
  for (const char* keyword : {"dependencies", "dependentRequired", "dependentSchemas"}) {
    const JsonValue* map = schema.find(keyword);
    for (size_t i = 0; map && i < map->items.size(); ++i) {
      const std::string_view name = map->names[i];
      const JsonValue& asked = map->items[i];
      Clause holds = {.schema = &schema, .required = {name}};
      if (asked.kind == Kind::kArray) {
        for (const JsonValue& one : asked.items) holds.required.emplace_back(one.text);
        if (asked.items.empty()) continue;
      } else {
        holds.all.push_back(clause_of(asked));
      }
      holds.types = kObjectType;
      const ClauseId missing = add({.schema = &schema, .more_properties = {{name, kNothing}}});
      out.choices.push_back({missing, add(std::move(holds))});
    }
  }
}

}  // namespace tern::grammar
