#include "text/chat/chat_format.h"

#include <algorithm>
#include <string>
#include <vector>

#include "text/chat/forms/call_probe.h"
#include "text/chat/forms/json_scanner.h"
#include "text/chat/forms/thought_marks.h"

namespace tern {
namespace {

const ChatMessage kQuestion = {.role = "user", .content = "a"};

class Prober {
 public:
  explicit Prober(const ChatTemplate& chat_template) : template_(chat_template) {}

  ChatFormat probe() const {
    ChatFormat format;
    find_thought_marks(template_.tool_source(), render_, format);
    format.has_tools = render({kQuestion}).contains("tern_tool");
    const CallProbe probe(render_, format);
    const std::string call = probe.calls({CallProbe::call()});
    format.has_tool_calls = call.contains(kProbeValue);
    format.has_tool_results = has_results();
    format.has_parallel_calls = !probe.calls({CallProbe::call(), CallProbe::other_call()}).empty();
    if (!format.has_tools) return format;
    format.calls = learn_calls(probe);
    if (!format.calls) format.calls = known_calls();
    if (format.calls && format.calls->begin.empty() && !format.calls->marked &&
        template_.tool_source().contains("<|python_tag|>")) {
      format.calls->may_begin = "<|python_tag|>";
    }
    return format;
  }

 private:
  // Empty if the template raises an error.
  std::string render(const std::vector<ChatMessage>& messages) const {
    const ChatOptions options = {
        .add_generation_prompt = false,
        .tools = R"([{"type": "function", "function": {"name": "tern_tool", "description": "c", "parameters": )"
                 R"({"type": "object", "properties": {}}}}])"};
    return template_.render(messages, options).value_or("");
  }

  // A template need not take every kind of message behind a result.
  bool has_results() const {
    const ChatMessage result = {.role = "tool",
                                .content = std::string(kProbeResult),
                                .tool_call_id = std::string(kProbeId),
                                .name = std::string(kProbeCall)};
    const ChatMessage caller = {.role = "assistant", .tool_calls = {CallProbe::call()}};
    std::vector<ChatMessage> messages = {kQuestion, caller, result};
    if (render(messages).contains(kProbeResult)) return true;
    messages.push_back({.role = "assistant", .content = std::string(kProbeReply)});
    return render(messages).contains(kProbeResult);
  }

  // For templates that tell the model how to call but do not render its calls: recognizes the mark in the source.
  std::optional<ToolCallFormat> known_calls() const {
    const std::string_view source = template_.tool_source();
    if (source.contains("[TOOL_CALLS]")) return ToolCallFormat{.begin = "[TOOL_CALLS]", .is_list = true};
    if (source.contains("<|tool_call|>")) {
      const bool has_end = source.contains("<|/tool_call|>");
      return ToolCallFormat{.begin = "<|tool_call|>", .end = has_end ? "<|/tool_call|>" : "", .is_list = true};
    }
    if (source.contains("<tool_call>") && source.contains("\\\"arguments\\\"")) {
      return ToolCallFormat{.begin = "<tool_call>\n", .end = "\n</tool_call>"};
    }
    return std::nullopt;
  }

  const ChatTemplate& template_;
  const RenderProbe render_ = [this](const std::vector<ChatMessage>& messages) { return render(messages); };
};

}  // namespace

bool ChatFormat::opens_thought(std::string_view prompt) const {
  return !think_begin.empty() && without_json_space(prompt).ends_with(think_begin);
}

ChatFormat find_chat_format(const ChatTemplate& chat_template) { return Prober(chat_template).probe(); }

void add_tokens(ChatFormat& format, const Tokenizer& tokenizer) {
  if (format.think_begin.empty() && tokenizer.find("<think>") && tokenizer.find("</think>")) {
    format.think_begin = "<think>";
    format.think_end = "</think>";
  }
  std::vector<std::string_view> marks = {format.think_begin, format.think_end};
  if (format.calls) {
    for (const std::string* mark : {&format.calls->begin, &format.calls->end, &format.calls->may_begin})
      marks.push_back(without_json_space(*mark));
  }
  for (const std::string_view mark : marks) {
    const std::optional<TokenId> token = mark.empty() ? std::nullopt : tokenizer.find(mark);
    if (token && tokenizer.piece(*token).empty()) format.shown_tokens.push_back(*token);
  }
}

Result<void> check_expressible(const ChatFormat& format, std::span<const ChatMessage> messages,
                               const ChatOptions& options) {
  const auto missing = [](std::string_view what, std::string_view instead) {
    return fail(ErrorCode::kNotSupported, "the model's chat template has no {}: {}", what, instead);
  };
  const bool has_tools = options.tools.find_first_not_of(" \t\r\n[]") != std::string::npos;
  if (has_tools && !format.has_tools) return missing("tools", "ask without them, or give a template that has");
  for (const ChatMessage& message : messages) {
    if (!message.tool_calls.empty() && !format.has_tool_calls)
      return missing("tool calls", "leave them out of the assistant's messages, or give a template that has");
    if (message.tool_calls.size() > 1 && !format.has_parallel_calls)
      return missing("messages with more than one tool call", "put each into a message of its own");
    if (message.role == "tool" && !format.has_tool_results)
      return missing("messages of the role 'tool'", "give results as the user's, or a template that has");
  }
  return {};
}

}  // namespace tern
