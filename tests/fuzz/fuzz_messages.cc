// Any bytes as the messages of a conversation: an error, or messages that are unchanged after writing and reading them
// again. The first byte selects the parser: "m" is the library's, used by C and the browser's module; anything else is
// the server's.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "server/api/replies/messages.h"
#include "tern/chat_reply.h"

namespace {

using tern::ChatMessage;
using tern::ToolCall;

void require(bool is_so) {
  if (!is_so) std::abort();
}

bool same(const ChatMessage& a, const ChatMessage& b) {
  const auto same_call = [](const ToolCall& c, const ToolCall& d) {
    return c.id == d.id && c.name == d.name && c.arguments == d.arguments;
  };
  return a.role == b.role && a.content == b.content && a.reasoning == b.reasoning &&
         std::ranges::equal(a.tool_calls, b.tool_calls, same_call);
}

void read_as_the_library(std::string_view text) {
  const auto messages = tern::messages_from_json(text);
  if (!messages) {
    require(messages.error().code == tern::ErrorCode::kInvalidArgument && !messages.error().message.empty());
    return;
  }
  std::string list = "[";
  for (const ChatMessage& message : *messages) list += (list.size() > 1 ? "," : "") + message_to_json(message);
  const auto again = tern::messages_from_json(list + "]");
  require(again && std::ranges::equal(*again, *messages, same));
}

void read_as_the_server(std::string_view text) {
  const auto body = tern::server::parse_body(text);
  if (!body) return;
  tern::server::Fields fields(*body);
  const auto messages = tern::server::read_messages(fields.find("messages"), "messages");
  if (!messages) {
    const tern::server::ApiError& error = messages.error();
    require(error.status == 400 && error.param.starts_with("messages") && error.message.starts_with("messages"));
    return;
  }
  require(!messages->empty());
  for (const ChatMessage& message : *messages) require(!message.role.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  data[0] == 'm' ? read_as_the_library(text) : read_as_the_server(text);
  return 0;
}
