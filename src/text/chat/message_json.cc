// Messages in the JSON of OpenAI's API.
#include "base/json_reader.h"
#include "tern/chat_reply.h"

namespace tern {
namespace {

constexpr size_t kMostMessages = 10'000;

// An error about message `i`. It is kInvalidArgument because the text is the caller's.
std::unexpected<Error> no_message(size_t i, std::string_view what) {
  return fail(ErrorCode::kInvalidArgument, "messages: number {} {}", i + 1, what);
}

Result<std::string> text_of(const Json& object, const char* key, size_t i) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return std::string();
  if (!it->is_string()) return no_message(i, format_text("has \"{}\" that is no text", key));
  return it->get<std::string>();
}

Result<ToolCall> call_of(const Json& call, size_t i) {
  const auto function = call.is_object() ? call.find("function") : call.end();
  if (!call.is_object() || function == call.end() || !function->is_object())
    return no_message(i, "has a tool call without \"function\" that is an object");
  ToolCall made;
  TRY(made.id, text_of(call, "id", i));
  TRY(made.name, text_of(*function, "name", i));
  TRY(made.arguments, text_of(*function, "arguments", i));
  return made;
}

Result<ChatMessage> message_of(const Json& json, size_t i) {
  if (!json.is_object()) return no_message(i, "is no object");
  ChatMessage message;
  TRY(message.role, text_of(json, "role", i));
  if (message.role.empty()) return no_message(i, "has no role");
  TRY(message.content, text_of(json, "content", i));
  TRY(message.reasoning, text_of(json, "reasoning_content", i));
  TRY(message.tool_call_id, text_of(json, "tool_call_id", i));
  TRY(message.name, text_of(json, "name", i));
  const auto calls = json.find("tool_calls");
  if (calls == json.end() || calls->is_null()) return message;
  if (!calls->is_array()) return no_message(i, "has \"tool_calls\" that are no list");
  for (const Json& call : *calls) {
    TRY(auto made, call_of(call, i));
    message.tool_calls.push_back(std::move(made));
  }
  return message;
}

}  // namespace

Result<std::vector<ChatMessage>> messages_from_json(std::string_view json) {
  const auto list = parse_json(json, "messages");
  if (!list) return fail(ErrorCode::kInvalidArgument, "{}", list.error().message);
  if (!list->is_array() || list->size() > kMostMessages)
    return fail(ErrorCode::kInvalidArgument, "messages: no list, or one of more than {}", kMostMessages);
  std::vector<ChatMessage> messages;
  for (size_t i = 0; i < list->size(); ++i) {
    TRY(auto message, message_of((*list)[i], i));
    messages.push_back(std::move(message));
  }
  return messages;
}

std::string message_to_json(const ChatMessage& message) {
  using Ordered = nlohmann::ordered_json;
  const bool says_nothing = message.content.empty() && !message.tool_calls.empty();
  Ordered json = {{"role", message.role}, {"content", says_nothing ? Ordered(nullptr) : Ordered(message.content)}};
  if (!message.reasoning.empty()) json["reasoning_content"] = message.reasoning;
  for (const ToolCall& call : message.tool_calls) {
    json["tool_calls"].push_back(
        {{"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  return json.dump(-1, ' ', false, Ordered::error_handler_t::replace);
}

}  // namespace tern
