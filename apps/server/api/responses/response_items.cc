#include "server/api/responses/response_items.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "base/text/format_text.h"
#include "server/api/replies/messages.h"
#include "server/api/replies/reply_options.h"
#include "server/api/responses/thought_code.h"

namespace tern::server {
namespace {

// The thoughts of an item: its text, else what this server wrote for clients that return nothing else, else a summary.
std::string thoughts_of(const Json& json, Fields& item, Json& notes) {
  std::string text;
  for (const char* name : {"content", "summary"}) {
    const auto list = json.find(name);
    for (size_t i = 0; text.empty() && list != json.end() && list->is_array() && i < list->size(); ++i) {
      item.within_element(name, i, [&](Fields& part) { part.read("text", text); });
    }
    if (!text.empty()) return text;
    std::string code;
    item.read("encrypted_content", code);
    if (code.empty()) continue;
    if (auto decoded = decode_thoughts(code)) return *decoded;
    notes.push_back(format_text("{}: was left out: another server wrote it", item.path_of("encrypted_content")));
    return text;
  }
  return text;
}

bool is_only_thoughts(const Json& message) {
  return message.value("role", Json()) == "assistant" && message.contains("reasoning_content") &&
         message.value("content", Json()).is_null() && !message.contains("tool_calls");
}

// Thoughts belong to the message or the calls that follow them.
void add_message(const Json& json, Json& messages) {
  if (messages.empty() || !is_only_thoughts(messages.back())) return messages.push_back(json);
  const Json thoughts = std::move(messages.back()["reasoning_content"]);
  messages.erase(messages.size() - 1);
  messages.push_back(json);
  const bool is_reply = json.is_object() && json.value("role", Json()) == "assistant";
  if (is_reply && !json.contains("reasoning_content")) messages.back()["reasoning_content"] = thoughts;
}

// A call belongs to the preceding assistant message; several calls share one message.
void add_call(const std::string& id, const std::string& name, const std::string& arguments, Json& messages) {
  if (messages.empty() || messages.back()["role"] != "assistant") {
    messages.push_back({{"role", "assistant"}, {"content", nullptr}});
  }
  Json& calls = messages.back()["tool_calls"];
  if (!calls.is_null() && !calls.is_array()) return;  // read_messages() refuses it
  calls.push_back({{"id", id}, {"type", "function"}, {"function", {{"name", name}, {"arguments", arguments}}}});
}

// Items that OpenAI's own tools leave in a conversation. They say nothing to a model here.
bool is_of_hosted_tool(std::string_view type) {
  constexpr std::array<std::string_view, 11> kTypes = {"web_search_call",
                                                       "file_search_call",
                                                       "code_interpreter_call",
                                                       "image_generation_call",
                                                       "tool_search_call",
                                                       "tool_search_output",
                                                       "compaction",
                                                       "compaction_summary",
                                                       "mcp_list_tools",
                                                       "mcp_approval_request",
                                                       "mcp_approval_response"};
  return std::ranges::contains(kTypes, type);
}

void add_item(const Json& json, Fields& item, Json& messages, Json& notes) {
  std::string type = "message";
  item.read("type", type);
  if (type == "message") {
    add_message(json, messages);
  } else if (type == "function_call") {
    std::string id, space, name, arguments;
    item.read("call_id", id);
    item.read("namespace", space);
    item.read("name", name);
    item.read("arguments", arguments);
    add_call(id, ClientTools::function_name(space, name), arguments, messages);
  } else if (type == "custom_tool_call") {
    std::string id, name, input;
    item.read("call_id", id);
    item.read("name", name);
    item.read("input", input);
    add_call(id, name, custom_arguments(input), messages);
  } else if (type == "local_shell_call") {
    std::string id;
    item.read("call_id", id);
    add_call(id, "local_shell", dump(json.value("action", Json::object())), messages);
  } else if (type == "function_call_output" || type == "custom_tool_call_output" || type == "local_shell_call_output") {
    messages.push_back(
        {{"role", "tool"}, {"tool_call_id", json.value("call_id", Json())}, {"content", json.value("output", Json())}});
  } else if (is_of_hosted_tool(type)) {
    notes.push_back(format_text("{}: '{}' was left out: it says nothing to this model", item.path_of("type"), type));
  } else if (type == "reasoning") {
    const std::string thoughts = thoughts_of(json, item, notes);
    if (!thoughts.empty()) {
      add_message({{"role", "assistant"}, {"content", nullptr}, {"reasoning_content", thoughts}}, messages);
    }
  } else {
    item.fail("type", format_text("'{}' is not supported", type.substr(0, 40)));
  }
}

void add_items(Fields& fields, const Json& items, Json& messages, Json& notes) {
  for (size_t i = 0; i < items.size(); ++i) {
    fields.within_element("input", i, [&](Fields& item) { add_item(items[i], item, messages, notes); });
  }
}

// Tools that the client does not run as a function.
bool is_hosted(std::string_view type) {
  constexpr std::array<std::string_view, 10> kHosted = {
      "file_search", "code_interpreter", "image_generation",    "computer", "mcp", "local_shell", "shell",
      "apply_patch", "tool_search",      "computer_use_preview"};
  return type.starts_with("web_search") || std::ranges::contains(kHosted, type);
}

// Items that are kept have ids, by which clients may refer to them.
Json with_ids(Json items) {
  for (Json& item : items) {
    if (!item.is_object() || item.contains("id")) continue;
    const Json type = item.value("type", Json("message"));
    item["id"] = new_id(type == "message" ? "msg_" : type == "function_call" ? "fc_" : "item_");
  }
  return items;
}

}  // namespace

ApiResult<Json> input_items(const Fields& fields) {
  const Json* input = fields.find("input");
  if (!input) return refuse("input: is missing; give a text or a list of items", "input", "missing_required_parameter");
  if (input->is_string()) {
    const Json part = {{"type", "input_text"}, {"text", *input}};
    return with_ids(Json::array({{{"type", "message"}, {"role", "user"}, {"content", Json::array({part})}}}));
  }
  if (!input->is_array() || input->empty()) return refuse("input: must be a string or a list of items", "input");
  return with_ids(*input);
}

// An item is there once, so what is referred to is not larger than what is kept.
ApiResult<void> resolve_references(Json& items, ResponseStore& kept, const std::string& owner) {
  std::map<size_t, std::string> references;
  std::set<std::string> ids;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_object() || items[i].value("type", Json()) != "item_reference") continue;
    const Json given = items[i].value("id", Json());
    const std::string& id = references[i] = given.is_string() ? given.get<std::string>() : "";
    if (ids.insert(id).second) continue;
    const std::string name = format_text("input[{}].id", i);
    return refuse(format_text("{}: '{}' is referred to twice", name, id.substr(0, 64)), name);
  }
  if (ids.empty()) return {};
  std::map<std::string, Json> found = kept.find_items(ids, owner);
  for (const auto& [i, id] : references) {
    const auto item = found.find(id);
    const std::string name = format_text("input[{}].id", i);
    if (item == found.end()) {
      return refuse(format_text("{}: '{}' is not kept here any more; send the item itself", name, id.substr(0, 64)),
                    name);
    }
    items[i] = std::move(item->second);
  }
  return {};
}

ApiResult<std::vector<ChatMessage>> read_items(Fields& fields, const Json& before, const Json& items, Json& notes) {
  Json messages = Json::array();
  std::string instructions;
  fields.read("instructions", instructions);
  if (!instructions.empty()) messages.push_back({{"role", "system"}, {"content", instructions}});
  TRY_STATUS(fields.check());
  const Json all[] = {{{"input", before}}, {{"input", items}}};
  for (const Json& some : all) {
    Fields inner(some);
    add_items(inner, some["input"], messages, notes);
    TRY_STATUS(inner.check());
  }
  if (!messages.empty() && is_only_thoughts(messages.back())) messages.erase(messages.size() - 1);
  return read_messages(&messages, "input");
}

ApiResult<Json> tools_of_chats(Fields& fields, const OtherTools& client, Json& notes) {
  Json list = Json::array();
  const Json* tools = fields.find("tools");
  if (!tools) return list;
  if (!tools->is_array()) return refuse("tools: must be a list", "tools");
  for (size_t i = 0; i < tools->size(); ++i) {
    fields.within_element("tools", i, [&](Fields& tool) {
      std::string type;
      tool.read("type", type);
      if (is_hosted(type)) {
        notes.push_back(
            format_text("tools[{}]: '{}' was left out: only functions can be called here", i, type.substr(0, 40)));
        return;
      }
      if (!client.known.read(tool, (*tools)[i], client.grammars, list)) {
        tool.fail("type",
                  format_text("'{}' is not supported: functions, custom and namespace are", type.substr(0, 40)));
      }
    });
  }
  client.known.check_names(fields, list);
  TRY_STATUS(fields.check());
  return list;
}

}  // namespace tern::server
