// JSON for reading schemas: keeps the order of members and the spelling of numbers, and can name a value's place.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tern::grammar {

struct JsonValue {
  enum Kind : uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject } kind = kNull;
  std::string text = {};                               // a number as written, or a string decoded
  std::vector<JsonValue> items = {};                   // an array's items, or the values of an object's members
  std::vector<uint32_t> by_name = {};                  // member indices sorted by name; empty if there are few
  std::vector<std::string> names = {};                 // the members' names, all different
  uint32_t number = 0;                                 // the order in which values end in the document
  const JsonValue* find(std::string_view name) const;  // nullptr: not an object, or no such member
};

// Parses a JSON document. kInvalidArgument, with line and column: not JSON, or an object has a name twice;
// kNotSupported: larger than 1 MiB, or nested more than 100 levels deep.
Result<JsonValue> read_json(std::string_view text);

// The JSON pointer from `root` to `value`, which is part of it.
std::string pointer_to(const JsonValue& root, const JsonValue& value);
// The value that a JSON pointer refers to; nullptr: there is none.
const JsonValue* find_at(const JsonValue& root, std::string_view pointer);

// The text of a value other than an array or object; a number as it was written.
std::string json_text(const JsonValue& value);
std::string json_string(std::string_view text);  // with quotation marks

// An exact number: ± 0.digits · 10^exponent. `digits` has no zeros at either end and is empty for zero.
struct Decimal {
  bool is_negative = false;
  std::string digits = {};
  int exponent = 0;

  // kNotSupported: an exponent of more than 4 digits.
  static Result<Decimal> of(std::string_view json_number);
  bool is_zero() const { return digits.empty(); }
  bool is_integer() const { return static_cast<int>(digits.size()) <= exponent || is_zero(); }
  // The digit with the weight 10^place.
  int digit(int place) const;
  static int compare(const Decimal& a, const Decimal& b);  // < 0, 0, > 0
};

// Equal for values that JSON Schema considers equal: 1 and 1.0, or objects whose members differ in order.
std::string canonical_text(const JsonValue& value);

}  // namespace tern::grammar
