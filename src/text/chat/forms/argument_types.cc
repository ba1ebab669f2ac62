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

using Path = std::span<const std::string>;

// The schema that a keyword of this one has for the member or item; null: none does.
const Json* schema_of_part(const Json& schema, const std::string& part) {
  const auto find = [&](const char* keyword) -> const Json* {
    const auto found = schema.find(keyword);
    return found != schema.end() && found->is_object() ? &*found : nullptr;
  };
  if (part.empty()) return schema.contains("prefixItems") ? nullptr : find("items");
  const Json* properties = find("properties");
  if (properties != nullptr && properties->contains(part)) return &(*properties)[part];
  return find("patternProperties") != nullptr ? nullptr : find("additionalProperties");
}

// The types that a schema allows a value at a path, or more: keywords that need not be understood here are left out.
class TypeFinder {
 public:
  explicit TypeFinder(const Json& root) : root_(root) {}

  uint8_t types_of(const Json& schema, Path path, int depth = 0) {
    if (!schema.is_object() || depth > kMostSchemaDepth || !has_time(1)) return kAnyArgument;
    const uint8_t holder = path.empty() ? kAnyArgument : path[0].empty() ? kListArgument : kObjectArgument;
    if (!path.empty() && (types_of(schema, {}, depth + 1) & holder) == 0) return 0;
    const Json* part = path.empty() ? nullptr : schema_of_part(schema, path[0]);
    uint8_t types = part != nullptr ? types_of(*part, path.subspan(1), depth + 1) : static_cast<uint8_t>(kAnyArgument);
    for (const auto& [key, value] : schema.items()) {
      types = static_cast<uint8_t>(types & (path.empty() ? own_types(key, value) : kAnyArgument) &
                                   types_by_others(key, value, path, depth + 1));
    }
    return types;
  }

 private:
  // Schemas that refer to themselves could take forever.
  bool has_time(size_t steps) {
    const bool has = steps <= steps_left_;
    steps_left_ -= std::min(steps, steps_left_);
    return has;
  }

  uint8_t any_of(const Json& list, const auto& type) {
    if (!has_time(list.size())) return kAnyArgument;
    uint8_t any = 0;
    for (const Json& one : list) any = static_cast<uint8_t>(any | type(one));
    return any;
  }

  uint8_t own_types(const std::string& key, const Json& value) {
    if (key == "type") return value.is_array() ? any_of(value, type_named) : type_named(value);
    if (key == "enum" && value.is_array()) return any_of(value, type_of);
    return key == "const" ? type_of(value) : static_cast<uint8_t>(kAnyArgument);
  }

  // Those that the schemas of a keyword allow the same value.
  uint8_t types_by_others(const std::string& key, const Json& value, Path path, int depth) {
    const auto nested = [&](const Json& one) { return types_of(one, path, depth); };
    uint8_t types = kAnyArgument;
    if ((key == "anyOf" || key == "oneOf") && value.is_array()) return any_of(value, nested);
    if (key == "allOf" && value.is_array()) {
      for (const Json& one : value) types = static_cast<uint8_t>(types & nested(one));
    }
    if (key != "$ref" || !value.is_string() || !value.get_ref<const std::string&>().starts_with('#')) return types;
    try {
      return nested(root_.at(Json::json_pointer(value.get_ref<const std::string&>().substr(1))));
    } catch (const Json::exception&) {
      return types;  // the grammar refuses such a reference by name
    }
  }

  const Json& root_;
  size_t steps_left_ = 10'000;
};

}  // namespace

ArgumentTypes::ArgumentTypes(std::string_view tools) {
  const Json list = Json::parse(tools, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return;
  for (const Json& tool : list) {
    if (!tool.is_object() || !tool.contains("function") || !tool["function"].is_object()) continue;
    const Json& function = tool["function"];
    if (!function.contains("name") || !function["name"].is_string() || !function.contains("parameters")) continue;
    parameters_[function["name"].get<std::string>()] = std::make_shared<const Json>(function["parameters"]);
  }
}

uint8_t ArgumentTypes::of(std::string_view function, std::span<const std::string> path) const {
  const auto known = parameters_.find(function);
  if (known == parameters_.end()) return kAnyArgument;
  const uint8_t types = TypeFinder(*known->second).types_of(*known->second, path);
  return types != 0 ? types : static_cast<uint8_t>(kAnyArgument);  // the value is wrong, whatever it is
}

uint8_t argument_type_named(std::string_view name) {
  const auto* const known = std::ranges::find(kNames, name, [](const auto& one) { return one.first; });
  return known == std::end(kNames) ? uint8_t{0} : known->second;
}

uint8_t schema_types(std::string_view schema) {
  const Json root = Json::parse(schema, nullptr, /*allow_exceptions=*/false);
  return TypeFinder(root).types_of(root, {});
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
