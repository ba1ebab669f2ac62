// The keywords of JSON Schema that restrict a document, with the values that each can have. Other names are
// annotations.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "grammar/schema/json_value.h"

namespace tern::grammar {

// The types of JSON values, as bits; an integer is also a number.
enum TypeBit : uint8_t {
  kNullType = 1,
  kBooleanType = 2,
  kIntegerType = 4,
  kFractionType = 8,  // numbers that are not integers
  kStringType = 16,
  kArrayType = 32,
  kObjectType = 64,
  kAllTypes = 127,
};
inline constexpr uint8_t kNumberTypes = kIntegerType | kFractionType;

uint8_t type_of(const JsonValue& value);

// The required form of a keyword's value.
enum class Shape : uint8_t {
  kAnything,
  kNumber,
  kBound,  // a number, or draft-04's true and false
  kCount,
  kString,
  kSchema,
  kSchemas,
  kItems,  // a schema, or a list of them up to draft 2019-09
  kSchemaMap,
  kNames,
  kNameMap,       // names for each name
  kDependencies,  // names or a schema for each name
  kTypes,
  kList,
  kBoolean
};

struct Keyword {
  std::string_view name;
  Shape shape;
  uint8_t types;  // types that it applies to; 0: any
};

const Keyword* find_keyword(std::string_view name);  // nullptr: an annotation
bool has_shape(const JsonValue& value, Shape shape);
std::string_view expected(Shape shape);  // for messages

bool is_schema(const JsonValue& value);
uint8_t types_named(const JsonValue& value);             // the value of `type`
std::optional<size_t> count_of(const JsonValue& value);  // at most kMaxCount
inline constexpr size_t kMaxCount = 1'000'000'000;

}  // namespace tern::grammar
