// Calls that are JSON objects: {"name": …, "arguments": {…}}, whatever their members are named.
#include <algorithm>

#include "text/chat/forms/call_probe.h"
#include "text/chat/forms/json_scanner.h"
#include "text/chat/forms/tool_call_json.h"

namespace tern {
namespace {

// Names the members of the call by their values. False: the object is no call, or has members that are not known.
bool name_members(std::string_view object, ToolCallFormat& format) {
  const auto members = json_members(object, 4);
  if (!members) return false;
  bool has_name = false, has_arguments = false;
  for (const auto& [quoted, value] : *members) {
    const std::string name = json_text(quoted).value_or("");
    const std::optional<std::string> text = json_text(value);
    if (text == kProbeCall) {
      has_name = true;
      format.name = name;
    } else if (value.starts_with('{') && value.contains(kProbeValue)) {
      has_arguments = true;
      format.arguments = name;
    } else if (text && name != "type") {
      format.id = name;
      format.id_is_first = !has_name;
    } else if (text != "function") {
      return false;
    }
  }
  return has_name && has_arguments;
}

}  // namespace

std::optional<ToolCallFormat> learn_json_calls(const CallProbe& probe) {
  const std::string rendered = probe.calls({CallProbe::call()});
  const std::string_view text = rendered;
  const size_t name_at = text.find(kProbeCall);
  size_t begin = name_at == text.npos ? text.npos : text.rfind('{', name_at);
  if (begin == text.npos) return std::nullopt;
  size_t end = json_end(text, begin);
  ToolCallFormat format;
  if (!name_members(text.substr(begin, end - begin), format)) return std::nullopt;
  if (without_json_space(text.substr(0, begin)).ends_with('[')) {
    format.is_list = true;
    begin = text.rfind('[', begin);
    end = json_end(text, begin);
  }
  format.begin = text.substr(0, begin);
  format.begin.erase(0, format.begin.find_first_not_of(" \n"));
  if (!format.begin.empty()) format.end = end_mark(text.substr(end), probe.turn_end());
  return format;
}

}  // namespace tern
