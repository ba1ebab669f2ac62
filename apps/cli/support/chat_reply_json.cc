#include "cli/support/chat_reply_json.h"

#include "cli/support/common.h"

namespace tern::cli {

Result<void> add_reply_parts(nlohmann::ordered_json& json, const ChatFormat& format, std::string_view prompt,
                             std::string_view tools, std::string_view text) {
  TRY(std::vector<std::string> names, tool_names(tools));
  ChatReplyParser parser(
      format,
      {.tool_names = std::move(names), .tools = std::string(tools), .in_thought = format.opens_thought(prompt)});
  ChatMessage reply;
  append(reply, parser.feed(text));
  append(reply, parser.finish());
  json["content"] = reply.content;
  if (!reply.reasoning.empty()) json["reasoning"] = reply.reasoning;
  json["tool_calls"] = nlohmann::ordered_json::array();
  for (const ToolCall& call : reply.tool_calls) {
    json["tool_calls"].push_back(
        {{"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  return {};
}

}  // namespace tern::cli
