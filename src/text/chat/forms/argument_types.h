// Types of a function's parameters by its schema, and the JSON of a value that was written as plain text.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace tern {

// Types of JSON values, as bits.
enum ArgumentType : uint8_t {
  kNullArgument = 1,
  kBooleanArgument = 2,
  kIntegerArgument = 4,
  kNumberArgument = 8,  // whole numbers as well
  kStringArgument = 16,
  kListArgument = 32,
  kObjectArgument = 64,
  kAnyArgument = 127,
};

class ArgumentTypes {
 public:
  ArgumentTypes() = default;
  // `tools` is a request's list; without a valid one, every parameter may have any type.
  explicit ArgumentTypes(std::string_view tools);

  // `path`: a parameter's name, and then names of members of its value, or "" for an item of a list.
  uint8_t of(std::string_view function, std::span<const std::string> path) const;

 private:
  std::map<std::string, std::shared_ptr<const nlohmann::json>, std::less<>> parameters_;  // of each function
};

// The type that has this name in JSON Schema; 0: there is none.
uint8_t argument_type_named(std::string_view name);

// The types of a schema's values, or more.
uint8_t schema_types(std::string_view schema);

// The value as JSON: a string, unless the text is JSON or a Python literal of another of these types.
std::string json_of_text(std::string_view text, uint8_t types);

}  // namespace tern
