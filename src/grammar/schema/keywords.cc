#include "grammar/schema/keywords.h"

#include <algorithm>
#include <unordered_map>

namespace tern::grammar {
namespace {

using Kind = JsonValue::Kind;

constexpr Keyword kKeywords[] = {
    {"type", Shape::kTypes, 0},
    {"nullable", Shape::kBoolean, 0},
    {"enum", Shape::kList, 0},
    {"const", Shape::kAnything, 0},
    {"anyOf", Shape::kSchemas, 0},
    {"oneOf", Shape::kSchemas, 0},
    {"allOf", Shape::kSchemas, 0},
    {"not", Shape::kSchema, 0},
    {"if", Shape::kSchema, 0},
    {"then", Shape::kSchema, 0},
    {"else", Shape::kSchema, 0},
    {"$ref", Shape::kString, 0},
    {"$dynamicRef", Shape::kString, 0},
    {"$recursiveRef", Shape::kString, 0},
    {"properties", Shape::kSchemaMap, kObjectType},
    {"patternProperties", Shape::kSchemaMap, kObjectType},
    {"additionalProperties", Shape::kSchema, kObjectType},
    {"unevaluatedProperties", Shape::kSchema, kObjectType},
    {"propertyNames", Shape::kSchema, kObjectType},
    {"required", Shape::kNames, kObjectType},
    {"dependencies", Shape::kDependencies, kObjectType},
    {"dependentRequired", Shape::kNameMap, kObjectType},
    {"dependentSchemas", Shape::kSchemaMap, kObjectType},
    {"minProperties", Shape::kCount, kObjectType},
    {"maxProperties", Shape::kCount, kObjectType},
    {"items", Shape::kItems, kArrayType},
    {"additionalItems", Shape::kSchema, kArrayType},
    {"prefixItems", Shape::kSchemas, kArrayType},
    {"unevaluatedItems", Shape::kSchema, kArrayType},
    {"contains", Shape::kSchema, kArrayType},
    {"minContains", Shape::kCount, kArrayType},
    {"maxContains", Shape::kCount, kArrayType},
    {"minItems", Shape::kCount, kArrayType},
    {"maxItems", Shape::kCount, kArrayType},
    {"uniqueItems", Shape::kBoolean, kArrayType},
    {"minLength", Shape::kCount, kStringType},
    {"maxLength", Shape::kCount, kStringType},
    {"pattern", Shape::kString, kStringType},
    {"format", Shape::kString, kStringType},
    // Extensions: the text by a grammar; members of objects in any order, here and in the schemas inside.
    {"$lark", Shape::kString, kStringType},
    {"$anyOrder", Shape::kBoolean, 0},
    {"minimum", Shape::kNumber, kNumberTypes},
    {"maximum", Shape::kNumber, kNumberTypes},
    {"exclusiveMinimum", Shape::kBound, kNumberTypes},
    {"exclusiveMaximum", Shape::kBound, kNumberTypes},
    {"multipleOf", Shape::kNumber, kNumberTypes},
};

constexpr std::pair<std::string_view, uint8_t> kTypeNames[] = {
    {"null", kNullType},     {"boolean", kBooleanType}, {"integer", kIntegerType}, {"number", kNumberTypes},
    {"string", kStringType}, {"array", kArrayType},     {"object", kObjectType}};

uint8_t type_named(const JsonValue& name) {
  if (name.kind != Kind::kString) return 0;
  for (const auto& [known, bits] : kTypeNames) {
    if (known == name.text) return bits;
  }
  return 0;
}

bool is_list(const JsonValue& value) { return value.kind == Kind::kArray && !value.items.empty(); }
bool is_string(const JsonValue& value) { return value.kind == Kind::kString; }
bool is_boolean(const JsonValue& value) { return value.kind == Kind::kTrue || value.kind == Kind::kFalse; }
bool is_number(const JsonValue& value) { return value.kind == Kind::kNumber && Decimal::of(value.text); }
bool are_names(const JsonValue& value) {
  return value.kind == Kind::kArray && std::ranges::all_of(value.items, is_string);
}
bool are_schemas(const JsonValue& value) { return is_list(value) && std::ranges::all_of(value.items, is_schema); }

}  // namespace

uint8_t type_of(const JsonValue& value) {
  switch (value.kind) {
    case Kind::kNull:
      return kNullType;
    case Kind::kFalse:
    case Kind::kTrue:
      return kBooleanType;
    case Kind::kNumber: {
      const auto number = Decimal::of(value.text);
      return number && number->is_integer() ? kIntegerType : kFractionType;
    }
    case Kind::kString:
      return kStringType;
    case Kind::kArray:
      return kArrayType;
    case Kind::kObject:
      break;
  }
  return kObjectType;
}

const Keyword* find_keyword(std::string_view name) {
  static const auto kByName = [] {
    std::unordered_map<std::string_view, const Keyword*> map;
    for (const Keyword& keyword : kKeywords) map.emplace(keyword.name, &keyword);
    return map;
  }();
  const auto found = kByName.find(name);
  return found == kByName.end() ? nullptr : found->second;
}

bool is_schema(const JsonValue& value) { return value.kind == Kind::kObject || is_boolean(value); }

uint8_t types_named(const JsonValue& value) {
  uint8_t bits = type_named(value);
  for (const JsonValue& one : value.items) bits |= type_named(one);
  return bits;
}

std::optional<size_t> count_of(const JsonValue& value) {
  if (value.kind != Kind::kNumber) return std::nullopt;
  const auto number = Decimal::of(value.text);
  if (!number || number->is_negative || !number->is_integer()) return std::nullopt;
  if (number->exponent > 10) return kMaxCount;
  size_t count = 0;
  for (int place = number->exponent - 1; place >= 0; --place)
    count = count * 10 + static_cast<size_t>(number->digit(place));
  return std::min(count, kMaxCount);
}

bool has_shape(const JsonValue& value, Shape shape) {
  switch (shape) {
    case Shape::kAnything:
      return true;
    case Shape::kNumber:
      return is_number(value);
    case Shape::kBound:
      return is_number(value) || is_boolean(value);
    case Shape::kCount:
      return count_of(value).has_value();
    case Shape::kString:
      return is_string(value);
    case Shape::kSchema:
      return is_schema(value);
    case Shape::kSchemas:
      return are_schemas(value);
    case Shape::kItems:
      return is_schema(value) || (value.kind == Kind::kArray && std::ranges::all_of(value.items, is_schema));
    case Shape::kSchemaMap:
      return value.kind == Kind::kObject && std::ranges::all_of(value.items, is_schema);
    case Shape::kNames:
      return are_names(value);
    case Shape::kNameMap:
      return value.kind == Kind::kObject && std::ranges::all_of(value.items, are_names);
    case Shape::kDependencies:
      return value.kind == Kind::kObject &&
             std::ranges::all_of(value.items, [](const auto& one) { return are_names(one) || is_schema(one); });
    case Shape::kTypes:
      return type_named(value) != 0 ||
             (is_list(value) && std::ranges::all_of(value.items, [](const auto& one) { return type_named(one) != 0; }));
    case Shape::kList:
      return is_list(value);
    case Shape::kBoolean:
      return is_boolean(value);
  }
  return false;
}

std::string_view expected(Shape shape) {
  switch (shape) {
    case Shape::kNumber:
      return "must be a number, of a sensible size";
    case Shape::kBound:
      return "must be a number, of a sensible size, or true or false as in draft-04";
    case Shape::kCount:
      return "must be a whole number from 0 up";
    case Shape::kString:
      return "must be a string";
    case Shape::kSchema:
      return "must be a schema: an object, true or false";
    case Shape::kSchemas:
      return "must be a list of schemas, and not empty";
    case Shape::kItems:
      return "must be a schema, or a list of schemas";
    case Shape::kSchemaMap:
      return "must be an object of schemas";
    case Shape::kNames:
      return "must be a list of names";
    case Shape::kNameMap:
      return "must be an object of lists of names";
    case Shape::kDependencies:
      return "must be an object of schemas or lists of names";
    case Shape::kTypes:
      return "must be null, boolean, integer, number, string, array or object, or a list of these";
    case Shape::kList:
      return "must be a list that is not empty";
    case Shape::kBoolean:
      return "must be true or false";
    case Shape::kAnything:
      break;
  }
  return "";
}

}  // namespace tern::grammar
