// The form of a reply that must call a function, as literal texts and a JSON schema.
#include <nlohmann/json.hpp>

#include "tern/chat_reply.h"
#include "text/chat/json_scanner.h"
#include "text/chat/tool_list.h"

namespace tern {
namespace {

// The schema with its internal references changed to `place` instead of the root.
std::string moved_to(std::string_view schema, std::string_view place) {
  std::string moved;
  JsonScanner scanner;
  std::string_view text;  // the last string, with its quotes
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
  // Members that some models write before the name; needed only if no mark identifies a call.
  const bool has_mark = !format.calls->begin.empty();
  const std::string own_members = choice.is_forced || has_mark
                                      ? ""
                                      : R"("id": {"type": "string", "maxLength": 64}, "type": {"const": "function"}, )";
  const auto is_loose = [&](size_t i) { return i < choice.loose.size() && choice.loose[i]; };
  std::string calls;
  std::string definitions;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!choice.name.empty() && list[i].name != choice.name) continue;
    const std::string number = std::to_string(i);
    if (!calls.empty()) calls += ", ";
    calls += R"({"type": "object", "properties": {)" + own_members + R"("name": {"const": )" +
             nlohmann::json(list[i].name).dump() + "}, " + arguments + R"(: {"$ref": "#/$defs/)" + number +
             R"("}}, "required": ["name", )" + arguments + R"(], "additionalProperties": false})";
    if (!definitions.empty()) definitions += ", ";
    definitions += '"' + number +
                   "\": " + (is_loose(i) ? R"({"type": "object"})" : moved_to(list[i].parameters, "/$defs/" + number));
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
