#include "text/chat/forms/argument_types.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/chat/forms/json_scanner.h"
#include "text/chat/forms/literal_reader.h"

namespace tern {
namespace {

using Json = nlohmann::json;

constexpr int kMostSchemaDepth = 20;
constexpr std::pair<std::string_view, uint8_t> kNames[] = {{"null", kNullArgument},
                                                           {"boolean", kBooleanArgument},
                                                           {"integer", kIntegerArgument},
                                                           {"string", kStringArgument},
                                                           {"array", kListArgument},
                                                           {"object", kObjectArgument},
                                                           {"number", kIntegerArgument | kNumberArgument}};

uint8_t type_named(const Json& name) {
  const uint8_t type = name.is_string() ? argument_type_named(name.get_ref<const std::string&>()) : 0;
  return type != 0 ? type : static_cast<uint8_t>(kAnyArgument);
}

uint8_t type_of(const Json& value) {
  if (value.is_null()) return kNullArgument;
  if (value.is_boolean()) return kBooleanArgument;
  if (value.is_number_integer()) return kIntegerArgument;
  if (value.is_number()) return kNumberArgument;
  if (value.is_string()) return kStringArgument;
  return value.is_array() ? kListArgument : kObjectArgument;
}

// The types that a schema allows, or more: keywords that need not be understood here are left out.
uint8_t types_of(const Json& schema, const Json& root, int depth) {
  if (!schema.is_object() || depth > kMostSchemaDepth) return kAnyArgument;
  uint8_t types = kAnyArgument;
  const auto narrow = [&](const Json& list, const auto& type) {
    uint8_t any = 0;
    for (const Json& one : list) any = static_cast<uint8_t>(any | type(one));
    types = static_cast<uint8_t>(types & any);
  };
  const auto nested = [&](const Json& one) { return types_of(one, root, depth + 1); };
  for (const auto& [key, value] : schema.items()) {
    if (key == "type") narrow(value.is_array() ? value : Json::array({value}), type_named);
    if (key == "enum" && value.is_array()) narrow(value, type_of);
    if (key == "const") types = static_cast<uint8_t>(types & type_of(value));
    if ((key == "anyOf" || key == "oneOf") && value.is_array()) narrow(value, nested);
    if (key == "allOf" && value.is_array()) {
      for (const Json& one : value) types = static_cast<uint8_t>(types & nested(one));
    }
    if (key != "$ref" || !value.is_string() || !value.get_ref<const std::string&>().starts_with('#')) continue;
    const std::string pointer = value.get_ref<const std::string&>().substr(1);
    try {
      types = static_cast<uint8_t>(types & nested(root.at(Json::json_pointer(pointer))));
    } catch (const Json::exception&) {
      continue;  // the grammar refuses such a reference by name
    }
  }
  return types;
}

}  // namespace

ArgumentTypes::ArgumentTypes(std::string_view tools) {
  const Json list = Json::parse(tools, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return;
  for (const Json& tool : list) {
    if (!tool.is_object() || !tool.contains("function") || !tool["function"].is_object()) continue;
    const Json& function = tool["function"];
    if (!function.contains("name") || !function["name"].is_string() || !function.contains("parameters")) continue;
    const Json& schema = function["parameters"];
    auto& types = functions_[function["name"].get<std::string>()];
    if (!schema.is_object() || !schema.contains("properties") || !schema["properties"].is_object()) continue;
    for (const auto& [name, one] : schema["properties"].items()) types[name] = types_of(one, schema, 0);
  }
}

uint8_t ArgumentTypes::of(std::string_view function, std::string_view parameter) const {
  const auto known = functions_.find(function);
  if (known == functions_.end()) return kAnyArgument;
  const auto found = known->second.find(parameter);
  return found == known->second.end() ? static_cast<uint8_t>(kAnyArgument) : found->second;
}

uint8_t argument_type_named(std::string_view name) {
  const auto* const known = std::ranges::find(kNames, name, [](const auto& one) { return one.first; });
  return known == std::end(kNames) ? uint8_t{0} : known->second;
}

uint8_t schema_types(std::string_view schema) {
  const Json root = Json::parse(schema, nullptr, /*allow_exceptions=*/false);
  return types_of(root, root, 0);
}

std::string json_of_text(std::string_view text, uint8_t types) {
  const auto fits = [types](const Json& value) {
    return !value.is_discarded() && !value.is_string() && (type_of(value) & types) != 0;
  };
  if (types != kStringArgument) {
    const std::string_view trimmed = without_json_space(text);
    if (fits(Json::parse(trimmed, nullptr, /*allow_exceptions=*/false))) return std::string(trimmed);
    if ((types & kStringArgument) == 0) {
      LiteralReader reader;
      std::string json;
      bool is_good = true;
      for (const char c : trimmed) is_good = is_good && reader.feed(c, json) == LiteralReader::Step::kMore;
      if (is_good && reader.may_end(json) && fits(Json::parse(json, nullptr, false))) return json;
    }
  }
  std::string json = "\"";
  append_json_text(text, json);
  return json + "\"";
}

}  // namespace tern
