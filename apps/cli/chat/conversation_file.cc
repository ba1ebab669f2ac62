#include "cli/chat/conversation_file.h"

#include <nlohmann/json.hpp>

#include "base/files/draft_file.h"
#include "base/result.h"
#include "cli/support/common.h"
#include "tern/chat_reply.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

std::unexpected<Error> no_conversation(const std::string& path, std::string_view why) {
  return fail(ErrorCode::kCorruption, "{}: not a saved conversation: {}", path, why);
}

}  // namespace

Result<void> save_conversation(const std::string& path, const std::string& model,
                               std::span<const ChatMessage> messages) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const ChatMessage& message : messages) {
    Json json = Json::parse(message_to_json(message));
    if (!message.tool_call_id.empty()) json["tool_call_id"] = message.tool_call_id;
    if (!message.name.empty()) json["name"] = message.name;
    list.push_back(std::move(json));
  }
  const Json conversation = {{"model", model}, {"messages", std::move(list)}};
  const auto written = write_text_file(path, conversation.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
  if (!written) return fail(ErrorCode::kIo, "{}: cannot be written: {}", path, written.error().message());
  return {};
}

Result<std::vector<ChatMessage>> load_conversation(const std::string& path) {
  using Json = nlohmann::json;
  TRY(const std::string text, read_text(path == "-" ? "./-" : path));
  const Json file = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (file.is_discarded()) return no_conversation(path, "it is not JSON");
  const Json* list = file.is_object() && file.contains("messages") ? &file["messages"] : &file;
  if (!list->is_array()) return no_conversation(path, "it has no list of messages");
  size_t number = 0;
  for (const Json& message : *list) {
    ++number;
    const bool has_content = message.is_object() && message.contains("content") && message["content"].is_string();
    const bool whole = message.is_object() && message.contains("role") && message["role"].is_string() &&
                       (has_content || message.contains("tool_calls"));
    if (!whole) return no_conversation(path, format_text("message {} has no role and content that are texts", number));
  }
  Result<std::vector<ChatMessage>> messages = messages_from_json(list->dump());
  if (!messages) return no_conversation(path, messages.error().message);
  return messages;
}

}  // namespace tern::cli
