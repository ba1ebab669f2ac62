// JSON as a schema needs it: members in their order, numbers as they are written, and the way back to a value's place.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tern::grammar {

struct JsonValue {
  enum Kind : uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject } kind = kNull;
  std::string text = {};                               // of a number as written; of a string decoded
  std::vector<JsonValue> items = {};                   // of an array; of an object the members' values
  std::vector<uint32_t> by_name = {};                  // the members, sorted by name; empty where they are few
  std::vector<std::string> names = {};                 // … and their names, each once
  uint32_t number = 0;                                 // in the order in which they end in the document
  const JsonValue* find(std::string_view name) const;  // nullptr: no such member, or no object
};

// kInvalidArgument, with line and column: no JSON, or a name twice in an object; kNotSupported: larger than 1 MiB, or
// nested more than 100 deep.
Result<JsonValue> read_json(std::string_view text);

// The JSON pointer of `value`, which is part of `root`.
std::string pointer_to(const JsonValue& root, const JsonValue& value);
// What a JSON pointer points to; nullptr: nothing.
const JsonValue* find_at(const JsonValue& root, std::string_view pointer);

// The text of a value that is no array and no object: a number as it was written.
std::string json_text(const JsonValue& value);
std::string json_string(std::string_view text);  // in quotation marks

// A number, exactly: ± 0.digits · 10^exponent, digits without zeros at either end; zero has none.
struct Decimal {
  bool is_negative = false;
  std::string digits = {};
  int exponent = 0;

  // kNotSupported: an exponent of more than 4 digits.
  static Result<Decimal> of(std::string_view json_number);
  bool is_zero() const { return digits.empty(); }
  bool is_integer() const { return static_cast<int>(digits.size()) <= exponent || is_zero(); }
  // The digit that counts 10^place.
  int digit(int place) const;
  static int compare(const Decimal& a, const Decimal& b);  // < 0, 0, > 0
};

// Equal where JSON Schema calls the values equal: 1 and 1.0, and objects with their members in another order.
std::string canonical_text(const JsonValue& value);

}  // namespace tern::grammar
