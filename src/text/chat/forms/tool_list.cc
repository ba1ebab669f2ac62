#include "text/chat/forms/tool_list.h"

#include "base/json_reader.h"
#include "text/chat/forms/argument_types.h"
#include "text/chat/forms/json_scanner.h"
#include "text/chat/forms/tool_call_json.h"

namespace tern {
namespace {

constexpr size_t kMostTools = 10'000;

std::unexpected<Error> wrong(size_t i, std::string_view what) {
  return fail(ErrorCode::kInvalidArgument, "tools: number {} {}", i + 1, what);
}

// The value of the last member with this name, as JSON parsers choose it.
std::string_view find_member(const std::vector<JsonMember>& members, std::string_view name) {
  std::string_view found;
  for (const JsonMember& member : members) {
    if (json_text(member.name) == name) found = member.value;
  }
  return found;
}

}  // namespace

Result<std::vector<Tool>> read_tools(std::string_view text) {
  constexpr size_t kMostMembers = 1000;
  text = without_json_space(text);
  std::vector<Tool> tools;
  if (text.empty()) return tools;
  if (auto good = parse_json(text, "tools"); !good) {
    return fail(ErrorCode::kInvalidArgument, "{}", good.error().message);
  }
  const auto list = json_items(text, kMostTools);
  if (!list) return fail(ErrorCode::kInvalidArgument, "tools: no list, or one of more than {}", kMostTools);
  for (size_t i = 0; i < list->size(); ++i) {
    const auto tool = json_members((*list)[i], kMostMembers);
    if (!tool) return wrong(i, "is no object");
    if (json_text(find_member(*tool, "type")) != "function")
      return wrong(i, "has not the \"type\" \"function\", the only one that there is");
    const auto function = json_members(find_member(*tool, "function"), kMostMembers);
    if (!function) return wrong(i, "has no \"function\" that is an object");
    const auto name = json_text(find_member(*function, "name"));
    if (!name || name->empty()) return wrong(i, "has no \"name\" in its function that is a text");
    std::string_view parameters = find_member(*function, "parameters");
    if (parameters.empty() || parameters == "null") parameters = R"({"type": "object", "properties": {}})";
    if (!parameters.starts_with('{')) return wrong(i, "has \"parameters\" that are no object");
    if ((schema_types(parameters) & kObjectArgument) == 0)
      return wrong(i, "has \"parameters\" that allow no object, and arguments are always one");
    const std::string_view strict = find_member(*function, "strict");
    if (!strict.empty() && strict != "true" && strict != "false" && strict != "null")
      return wrong(i, "has \"strict\" that is neither true nor false");
    tools.push_back({.name = *name, .parameters = parameters, .is_strict = strict == "true"});
  }
  return tools;
}

}  // namespace tern
