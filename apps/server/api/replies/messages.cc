#include "server/api/replies/messages.h"

#include <algorithm>
#include <array>

#include "base/text/format_text.h"
#include "server/api/tools/client_tools.h"

namespace tern::server {
namespace {

constexpr size_t kMostMessages = 10'000;

bool is_text_part(std::string_view type) {
  return type == "text" || type == "input_text" || type == "output_text" || type == "refusal";
}

// Reads a text, or a list of parts that are texts.
std::string read_content(Fields& message) {
  const Json* content = message.find("content");
  std::string text;
  if (!content) return text;
  if (!content->is_array()) {
    message.read("content", text);
    return text;
  }
  for (size_t i = 0; i < content->size(); ++i) {
    message.within_element("content", i, [&](Fields& part) {
      std::string type = "text", piece;
      part.read("type", type);
      if (!is_text_part(type)) {
        return part.fail("type", format_text("'{}' is not supported: this model reads text", type.substr(0, 40)));
      }
      part.read(type == "refusal" ? "refusal" : "text", piece);
      text += piece;
    });
  }
  return text;
}

std::vector<ToolCall> read_calls(Fields& message) {
  std::vector<ToolCall> calls;
  const Json* list = message.find("tool_calls");
  if (!list) return calls;
  if (!list->is_array()) {
    message.fail("tool_calls", "must be a list");
    return calls;
  }
  for (size_t i = 0; i < list->size(); ++i) {
    message.within_element("tool_calls", i, [&](Fields& call) {
      ToolCall& made = calls.emplace_back();
      std::string type = "function";
      call.read("type", type);
      call.read("id", made.id);
      if (type == "custom") {
        std::string input;
        if (!call.find("custom")) call.fail("custom", "is missing");
        call.within("custom", [&](Fields& custom) {
          custom.read("name", made.name);
          custom.read("input", input);
        });
        made.arguments = custom_arguments(input);
        return;
      }
      if (type != "function") call.fail("type", format_text("'{}' is not supported", type.substr(0, 40)));
      if (!call.find("function")) call.fail("function", "is missing");
      call.within("function", [&](Fields& function) {
        function.read("name", made.name);
        function.read("arguments", made.arguments);
      });
    });
  }
  return calls;
}

ChatMessage read_message(Fields& fields) {
  constexpr std::array<std::string_view, 5> kRoles = {"system", "developer", "user", "assistant", "tool"};
  ChatMessage message;
  fields.read("role", message.role);
  if (!std::ranges::contains(kRoles, message.role)) {
    fields.fail("role", message.role.empty()
                            ? "is missing: system, user, assistant or tool"
                            : format_text("'{}' is not supported: system, user, assistant and tool are",
                                          message.role.substr(0, 40)));
  }
  message.content = read_content(fields);
  fields.read("reasoning_content", message.reasoning);
  fields.read("name", message.name);
  fields.read("tool_call_id", message.tool_call_id);
  message.tool_calls = read_calls(fields);
  return message;
}

}  // namespace

ApiResult<std::vector<ChatMessage>> read_messages(const Json* list, const std::string& name) {
  if (!list) {
    return refuse(format_text("{}: is missing; give the conversation", name), name, "missing_required_parameter");
  }
  if (!list->is_array() || list->empty()) {
    return refuse(format_text("{}: must be a list of at least one message", name), name);
  }
  if (list->size() > kMostMessages) {
    return refuse(format_text("{}: there are {}; at most {} are possible", name, list->size(), kMostMessages), name);
  }
  std::vector<ChatMessage> messages;
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string path = format_text("{}[{}]", name, i);
    if (!(*list)[i].is_object()) return refuse(format_text("{}: must be an object", path), path);
    Fields fields((*list)[i], path + ".");
    messages.push_back(read_message(fields));
    TRY_STATUS(fields.check());
  }
  return messages;
}

}  // namespace tern::server
