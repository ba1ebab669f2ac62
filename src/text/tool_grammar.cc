// What a reply that has to call a function looks like, as literal texts and a JSON schema.
#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "tern/chat_reply.h"
#include "text/json_scanner.h"
#include "text/tool_call_json.h"

namespace tern {
namespace {

constexpr size_t kMostTools = 10'000;

struct Tool {
  std::string name;
  std::string_view parameters;  // a JSON schema, as written: the order of properties is the order of what it describes
};

std::unexpected<Error> wrong(size_t i, std::string_view what) {
  return fail(ErrorCode::kInvalidArgument, "tools: number {} {}", i + 1, what);
}

// The last of several, as readers of JSON have it.
std::string_view find_member(const std::vector<JsonMember>& members, std::string_view name) {
  std::string_view found;
  for (const JsonMember& member : members) {
    if (json_text(member.name) == name) found = member.value;
  }
  return found;
}

// The tools, whose parts point into `text`.
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
    tools.push_back({.name = *name, .parameters = parameters});
  }
  return tools;
}

// The schema with its references to itself pointing to `place` instead of the root.
std::string moved_to(std::string_view schema, std::string_view place) {
  std::string moved;
  JsonScanner scanner;
  std::string_view text;  // the last one, with its quotes
  bool is_reference = false;
  size_t start = 0;
  for (size_t at = 0; at < schema.size(); ++at) {
    const bool was_text = scanner.in_text();
    scanner.feed(schema[at]);
    if (!was_text && scanner.in_text()) start = at;
    moved += schema[at];
    if (is_reference && was_text && at == start + 1 && schema[at] == '#') moved += place;
    if (was_text && !scanner.in_text()) {
      text = schema.substr(start, at + 1 - start);
    } else if (scanner.after_colon()) {
      is_reference = text == "\"$ref\"";
    } else if (!scanner.in_text() && !is_json_space(schema[at])) {
      is_reference = false;
    }
  }
  return moved;
}

}  // namespace

Result<std::vector<std::string>> tool_names(std::string_view tools) {
  TRY(const std::vector<Tool> list, read_tools(tools));
  std::vector<std::string> names;
  for (const Tool& tool : list) names.push_back(tool.name);
  return names;
}

Result<ToolCallGrammar> tool_call_grammar(const ChatFormat& format, std::string_view tools, const ToolChoice& choice) {
  if (!format.calls) {
    return fail(ErrorCode::kNotSupported,
                "the model's chat template has no tool calls in a form that Tern can read; leave the tools out");
  }
  TRY(const std::vector<Tool> list, read_tools(tools));
  const std::string arguments = nlohmann::json(format.calls->arguments).dump();
  std::string calls;
  std::string definitions;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!choice.name.empty() && list[i].name != choice.name) continue;
    const std::string number = std::to_string(i);
    if (!calls.empty()) calls += ", ";
    calls += R"({"type": "object", "properties": {"name": {"const": )" + nlohmann::json(list[i].name).dump() + "}, " +
             arguments + R"(: {"$ref": "#/$defs/)" + number + R"("}}, "required": ["name", )" + arguments +
             R"(], "additionalProperties": false})";
    if (!definitions.empty()) definitions += ", ";
    definitions += '"' + number + "\": " + moved_to(list[i].parameters, "/$defs/" + number);
  }
  if (calls.empty() && choice.name.empty()) return fail(ErrorCode::kInvalidArgument, "tools: there is none to call");
  if (calls.empty()) return fail(ErrorCode::kInvalidArgument, "tools: there is none named '{}'", choice.name);
  ToolCallGrammar grammar{.begin = format.calls->begin, .end = format.calls->end};
  const std::string any = R"("anyOf": [)" + calls + "]";
  const std::string defs = R"(, "$defs": {)" + definitions + "}}";
  const std::string most = choice.parallel ? "" : R"(, "maxItems": 1)";
  grammar.schema = format.calls->is_list ? R"({"type": "array", "items": {)" + any + R"(}, "minItems": 1)" + most + defs
                                         : "{" + any + defs;
  grammar.trigger = grammar.begin.substr(0, grammar.begin.find_last_not_of(" \n") + 1);
  grammar.triggers_only_at_start = grammar.trigger.empty();
  if (grammar.trigger.empty()) grammar.trigger = "{\"name\":";
  return grammar;
}

}  // namespace tern
