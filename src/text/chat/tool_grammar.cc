// The form of a reply that must call a function, as literal texts and a JSON schema.
#include <nlohmann/json.hpp>

#include "tern/chat_reply.h"
#include "text/chat/forms/json_scanner.h"
#include "text/chat/forms/marked_grammar.h"
#include "text/chat/forms/tool_list.h"

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

std::string json_quoted(std::string_view text) { return nlohmann::json(text).dump(); }

// The members of a call that the schemas of JSON calls have beside its name and arguments.
struct OtherMembers {
  std::string before, after;
};
OtherMembers other_members(const ToolCallFormat& format, const ToolChoice& choice) {
  const std::string text = R"(: {"type": "string", "maxLength": 64})";
  OtherMembers members;
  // Some models write an id and a type before the name; needed only if no mark identifies a call.
  if (!choice.is_forced && format.begin.empty())
    members.before = R"("id")" + text + R"(, "type": {"const": "function"}, )";
  if (format.id.empty() || (!members.before.empty() && format.id == "id")) return members;
  if (format.id_is_first) {
    members.before += json_quoted(format.id) + text + ", ";
  } else {
    members.after = ", " + json_quoted(format.id) + text;
  }
  return members;
}

ToolCallGrammar json_call_grammar(const ToolCallFormat& format, const std::vector<CalledTool>& tools,
                                  const std::string& definitions, const ToolChoice& choice) {
  const std::string name = json_quoted(format.name), arguments = json_quoted(format.arguments);
  const OtherMembers others = other_members(format, choice);
  std::string calls;
  for (const CalledTool& tool : tools) {
    if (!calls.empty()) calls += ", ";
    calls += R"({"type": "object", "properties": {)" + others.before + name + R"(: {"const": )" +
             json_quoted(tool.name) + "}, " + arguments + ": " + tool.schema + others.after + R"(}, "required": [)" +
             name + ", " + arguments + R"(], "additionalProperties": false})";
  }
  ToolCallGrammar grammar{.begin = format.begin, .end = format.end};
  const std::string any = R"("anyOf": [)" + calls + "]";
  const std::string defs = R"(, "$defs": {)" + definitions + "}}";
  const std::string most = choice.parallel ? "" : R"(, "maxItems": 1)";
  grammar.schema =
      format.is_list ? R"({"type": "array", "items": {)" + any + R"(}, "minItems": 1)" + most + defs : "{" + any + defs;
  const std::string list = R"({"type": "array", "items": {)" + any + R"(}, "minItems": 1)" + most + "}";
  grammar.whole = R"({"$calls": {"all": [)" + json_quoted(format.begin) + R"(, {"json": )" +
                  (format.is_list ? list : "{" + any + "}") + "}, " + json_quoted(format.end) + "]}" + defs;
  grammar.trigger = grammar.begin.substr(0, grammar.begin.find_last_not_of(" \n") + 1);
  const std::string mark_end(without_json_space(format.end));
  if (choice.is_forced && choice.parallel && choice.name.empty() && !format.is_list && !grammar.trigger.empty() &&
      !mark_end.empty()) {
    // Each call ends with its mark, so that another one can follow.
    const std::string end = format.end.substr(0, format.end.find(mark_end) + mark_end.size());
    grammar.schema = R"({"$calls": {"some": {"all": [{"json": {)" + any + "}}, " + json_quoted(end) +
                     R"(]}, "between": )" + json_quoted("\n" + format.begin) + "}" + defs;
    grammar.end.clear();
  }
  grammar.triggers_only_at_start = grammar.trigger.empty();
  if (grammar.trigger.empty()) grammar.trigger = "{" + name + ":";
  return grammar;
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
  std::vector<CalledTool> called;
  std::string definitions;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!choice.name.empty() && list[i].name != choice.name) continue;
    const std::string number = std::to_string(i);
    const bool is_loose = i < choice.loose.size() && choice.loose[i];
    // Arguments are an object, whatever else the schema allows.
    called.push_back({list[i].name, R"({"$ref": "#/$defs/)" + number + R"(", "type": "object"})"});
    if (!definitions.empty()) definitions += ", ";
    definitions +=
        '"' + number + "\": " + (is_loose ? R"({"type": "object"})" : moved_to(list[i].parameters, "/$defs/" + number));
  }
  if (called.empty() && choice.name.empty()) return fail(ErrorCode::kInvalidArgument, "tools: there is none to call");
  if (called.empty()) return fail(ErrorCode::kInvalidArgument, "tools: there is none named '{}'", choice.name);
  if (format.calls->marked) return marked_call_grammar(*format.calls, called, definitions, choice);
  return json_call_grammar(*format.calls, called, definitions, choice);
}

}  // namespace tern
