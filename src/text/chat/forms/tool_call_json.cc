#include "text/chat/forms/tool_call_json.h"

#include <nlohmann/json.hpp>

#include "text/chat/forms/json_scanner.h"

namespace tern {

using Json = nlohmann::json;

std::optional<std::string> json_text(std::string_view quoted) {
  const Json value = Json::parse(quoted.begin(), quoted.end(), nullptr, /*allow_exceptions=*/false);
  if (!value.is_string()) return std::nullopt;
  return value.get<std::string>();
}

bool is_call_member(std::string_view quoted_name, const ToolCallFormat& format) {
  const std::optional<std::string> name = json_text(quoted_name);
  if (!name) return false;
  return *name == format.name || *name == format.arguments || *name == "id" || *name == "type" ||
         (!format.id.empty() && *name == format.id);
}

std::optional<ToolCall> read_tool_call(std::string_view object, const ToolCallFormat& format) {
  const auto members = json_members(object, 4);
  if (!members) return std::nullopt;
  ToolCall call;
  bool has_name = false;
  for (const auto& [name, value] : *members) {
    if (!is_call_member(name, format)) return std::nullopt;
    const std::string key = *json_text(name);
    if (key == format.arguments) {
      if (!call.arguments.empty() || !value.starts_with('{')) return std::nullopt;
      if (!Json::accept(value.begin(), value.end())) return std::nullopt;  // checks UTF-8 and the range of numbers
      call.arguments = value;
      continue;
    }
    const std::optional<std::string> text = json_text(value);
    if (!text) return std::nullopt;
    if (key == format.name) {
      if (has_name || text->empty()) return std::nullopt;
      has_name = true;
      call.name = *text;
    } else if (key == "id" || key == format.id) {
      call.id = *text;
    } else if (*text != "function") {
      return std::nullopt;
    }
  }
  if (!has_name || call.arguments.empty()) return std::nullopt;
  return call;
}

}  // namespace tern
