#include "text/chat/template_conversation.h"

#include <algorithm>
#include <ctime>

#include "base/platform/process.h"
#include "text/jinja/json.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

using Value = TemplateValue;
using Members = std::vector<std::pair<Value, Value>>;

constexpr size_t kMessageBytes = 128;  // for a message or a call, excluding its text

std::string_view view(const std::string& text) { return text; }

const Value* member(const TemplateDict& dict, std::string_view key, TemplateMemory& memory) {
  return find(dict, key, memory.budget());
}

// Checks tools in the form of OpenAI's API. Other members go to the template unchanged.
Value read_tools(std::string_view text, TemplateMemory& memory) {
  if (text.empty()) return None{};
  const Value tools = read_template_json(text, "tools", memory);
  const auto* list = std::get_if<const TemplateList*>(&tools);
  if (list == nullptr) refuse_request("tools: a {} where a list is needed", type_name(tools));
  if ((*list)->items.empty()) return None{};
  for (size_t i = 0; i < (*list)->items.size(); ++i) {
    const auto* tool = std::get_if<const TemplateDict*>(&(*list)->items[i]);
    if (tool == nullptr) refuse_request("tools: number {} is no object", i + 1);
    const Value* type = member(**tool, "type", memory);
    if (type == nullptr || !equal(*type, std::string_view("function"), memory.budget()))
      refuse_request("tools: number {} has not the \"type\" \"function\", the only one that there is", i + 1);
    const Value* function = member(**tool, "function", memory);
    const auto* dict = function == nullptr ? nullptr : std::get_if<const TemplateDict*>(function);
    if (dict == nullptr) refuse_request("tools: number {} has no \"function\" that is an object", i + 1);
    const Value* name = member(**dict, "name", memory);
    const auto* name_text = name == nullptr ? nullptr : std::get_if<std::string_view>(name);
    if (name_text == nullptr || name_text->empty())
      refuse_request("tools: number {} has no \"name\" in its function that is a text", i + 1);
  }
  return tools;
}

// Arguments become an object, as most templates expect, instead of the string in OpenAI's API.
Value call_value(const ToolCall& call, size_t number, const MessageStyle& style, TemplateMemory& memory) {
  if (call.name.empty()) refuse_request("message {}: a tool call without a name", number);
  Value arguments = memory.dict({});
  if (!call.arguments.empty()) {
    const std::string what = format_text("message {}: the arguments of '{}'", number, printable(call.name));
    arguments = read_template_json(call.arguments, what, memory);
    if (!std::holds_alternative<const TemplateDict*>(arguments))
      refuse_request("{}: a {} where a JSON object is needed", what, type_name(arguments));
  }
  if (style.text_arguments) arguments = call.arguments.empty() ? std::string_view("{}") : view(call.arguments);
  Members items;
  if (!call.id.empty()) items.emplace_back(std::string_view("id"), view(call.id));
  items.emplace_back(std::string_view("type"), std::string_view("function"));
  items.emplace_back(std::string_view("function"), memory.dict({{std::string_view("name"), view(call.name)},
                                                                {std::string_view("arguments"), arguments}}));
  return memory.dict(std::move(items));
}

// True if the template mentions a message's member: message.NAME, message['NAME'] or message.get('NAME').
bool reads_member(std::string_view source, std::string_view name) {
  for (size_t at = source.find(name); at != source.npos; at = source.find(name, at + 1)) {
    const size_t end = at + name.size();
    const char before = at == 0 ? ' ' : source[at - 1], after = end == source.size() ? ' ' : source[end];
    if (before == '.' && after != '_' && (after < 'a' || after > 'z')) return true;
    if ((before == '\'' || before == '"') && after == before) return true;
  }
  return false;
}

void check_roles(const ChatMessage& message, size_t number) {
  const auto only = [&](bool has, std::string_view what, std::string_view role) {
    if (!has || message.role == role) return;
    refuse_request("message {}: {} in a message of '{}', which only one of '{}' has", number, what,
                   printable(message.role, 20), role);
  };
  only(!message.tool_calls.empty(), "tool calls", "assistant");
  only(!message.reasoning.empty(), "reasoning", "assistant");
  only(!message.tool_call_id.empty(), "the id of a tool call", "tool");
}

// Thoughts go into the members that the template reads. One that reads none gets none: models want no old thoughts.
void add_text(const ChatMessage& message, std::string_view source, const MessageStyle& style, Members& items,
              TemplateMemory& memory) {
  if (!message.reasoning.empty()) {
    for (const std::string_view name : {"reasoning_content", "reasoning", "thinking"}) {
      // gpt-oss's template takes a thought beside calls only if there is no content.
      if (name == "thinking" && !message.tool_calls.empty() && !message.content.empty()) continue;
      if (reads_member(source, name)) items.emplace_back(name, view(message.reasoning));
    }
  }
  Value content = view(message.content);
  if (style.typed_content) {
    const Value part = memory.dict(
        {{std::string_view("type"), std::string_view("text")}, {std::string_view("text"), view(message.content)}});
    content = memory.list(message.content.empty() ? std::vector<Value>() : std::vector<Value>{part});
  } else if (style.null_content && message.content.empty() && !message.tool_calls.empty()) {
    content = None{};
  }
  items.emplace_back(std::string_view("content"), content);
}

// The known roles are the template's words: it makes marks of them, as in '<|' + role + '|>'.
std::string_view role_of(const ChatMessage& message, TemplateMemory& memory) {
  constexpr std::string_view kRoles[] = {"system", "user", "assistant", "tool"};
  const std::string_view role = message.role == "developer" ? std::string_view("system") : view(message.role);
  const auto* known = std::ranges::find(kRoles, role);
  if (known == std::end(kRoles)) return role;
  memory.own(*known);
  return *known;
}

Value message_value(const ChatMessage& message, size_t number, std::string_view source, const MessageStyle& style,
                    TemplateMemory& memory) {
  check_roles(message, number);
  Members items = {{std::string_view("role"), role_of(message, memory)}};
  add_text(message, source, style, items, memory);
  if (!message.tool_calls.empty()) {  // some templates only check if the member exists
    std::vector<Value> calls;
    for (const ToolCall& call : message.tool_calls) calls.push_back(call_value(call, number, style, memory));
    items.emplace_back(std::string_view("tool_calls"), memory.list(std::move(calls)));
  }
  if (!message.tool_call_id.empty()) items.emplace_back(std::string_view("tool_call_id"), view(message.tool_call_id));
  if (!message.name.empty()) items.emplace_back(std::string_view("name"), view(message.name));
  return memory.dict(std::move(items));
}

// Variables that the template lacks have no effect: gateways send one set to all models.
void add_variables(std::string_view text, TemplateNames& names, TemplateMemory& memory) {
  if (text.empty()) return;
  const Value variables = read_template_json(text, "template variables", memory);
  const auto* dict = std::get_if<const TemplateDict*>(&variables);
  if (dict == nullptr) refuse_request("template variables: a {} where an object is needed", type_name(variables));
  for (const auto& [key, value] : (*dict)->items) {
    const std::string_view name = std::get<std::string_view>(key);
    if (std::ranges::contains(names, name, &TemplateNames::value_type::first))
      refuse_request("template variables: '{}' is given already, by another option", printable(name));
    names.emplace_back(name, value);
  }
}

// Firefunction's template wants its tools as text, and the date.
void add_own_names(const ChatOptions& options, std::string_view source, TemplateNames& names, TemplateMemory& memory) {
  const auto wants = [&](std::string_view name) {
    return source.contains("+ " + std::string(name)) &&
           !std::ranges::contains(names, name, &TemplateNames::value_type::first);
  };
  if (wants("functions")) {
    std::string text;
    append_json(read_tools(options.tools, memory), {.indent = 4, .item_separator = ","}, text, memory.budget());
    names.emplace_back("functions", memory.keep(std::move(text)));
  }
  if (!wants("datetime")) return;
  const std::time_t now = std::time(nullptr);
  const std::tm universal = platform::utc_time(now);
  char text[64];
  names.emplace_back("datetime", memory.keep(std::string(
                                     text, std::strftime(text, sizeof text, "%b %d %Y %H:%M:%S GMT", &universal))));
}

}  // namespace

size_t conversation_bytes(std::span<const ChatMessage> messages, const ChatOptions& options) {
  size_t n = options.tools.size() + options.variables.size();
  for (const ChatMessage& message : messages) {
    n += kMessageBytes + message.role.size() + message.content.size() + message.reasoning.size();
    n += message.name.size() + message.tool_call_id.size();
    for (const ToolCall& call : message.tool_calls) n += kMessageBytes + call.name.size() + call.arguments.size();
  }
  return n;
}

TemplateNames conversation_names(std::span<const ChatMessage> messages, const ChatOptions& options,
                                 std::string_view source, const MessageStyle& style, TemplateMemory& memory) {
  std::vector<Value> list;
  for (const ChatMessage& message : messages)
    list.push_back(message_value(message, list.size() + 1, source, style, memory));
  TemplateNames names = {{"messages", memory.list(std::move(list))},
                         {"tools", read_tools(options.tools, memory)},
                         {"documents", None{}},
                         {"add_generation_prompt", options.add_generation_prompt}};
  if (options.think) names.emplace_back("enable_thinking", *options.think);
  add_variables(options.variables, names, memory);
  add_own_names(options, source, names, memory);
  return names;
}

}  // namespace tern
