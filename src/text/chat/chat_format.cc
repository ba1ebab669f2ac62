#include "text/chat/chat_format.h"

#include <algorithm>
#include <string>
#include <vector>

#include "text/chat/json_scanner.h"
#include "text/chat/tool_call_json.h"

namespace tern {
namespace {

// Words that no template contains. Ids have nine letters because Mistral's templates require it.
constexpr std::string_view kTool = "tern_tool";
constexpr std::string_view kCall = "tern_call";
constexpr std::string_view kOtherCall = "tern_other_call";
constexpr std::string_view kReply = "tern_reply";
constexpr std::string_view kResult = "tern_result";
constexpr std::string_view kValue = "tern_value";

const ChatMessage kQuestion = {.role = "user", .content = "a"};
const ChatMessage kThanks = {.role = "user", .content = "b"};

ToolCall call_of(std::string_view name, std::string id) {
  return {.id = std::move(id), .name = std::string(name), .arguments = R"({"k": "tern_value"})"};
}

ChatMessage result_of(std::string id) {
  return {.role = "tool", .content = std::string(kResult), .tool_call_id = std::move(id), .name = std::string(kCall)};
}

class Prober {
 public:
  explicit Prober(const ChatTemplate& chat_template) : template_(chat_template) {}

  ChatFormat probe() const {
    ChatFormat format;
    const std::string_view source = template_.source();
    if (source.contains("<think>") || source.contains("</think>")) {
      format.think_begin = "<think>";
      format.think_end = "</think>";
    }
    format.has_tools = render({kQuestion}).contains(kTool);
    const ChatMessage caller = {.role = "assistant", .tool_calls = {call_of(kCall, "probecall")}};
    const std::string call = render({kQuestion, caller, result_of("probecall"), kThanks});
    const std::string call_alone = render({kQuestion, caller});
    format.has_tool_calls = (call.contains(kCall) && call.contains(kValue)) || call_alone.contains(kValue);
    format.has_tool_results = call.contains(kResult);
    const ChatMessage two = {.role = "assistant",
                             .tool_calls = {call_of(kCall, "probecall"), call_of(kOtherCall, "otherprob")}};
    format.has_parallel_calls =
        render({kQuestion, two, result_of("probecall"), result_of("otherprob"), kThanks}).contains(kOtherCall);
    if (!format.has_tools) return format;
    format.calls = find_calls(call);
    if (!format.calls) format.calls = known_calls();
    if (format.calls && format.calls->begin.empty() && source.contains("<|python_tag|>")) {
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

  // Derives the format of calls from the rendered conversation `text`, in which an assistant has made a call.
  std::optional<ToolCallFormat> find_calls(std::string_view text) const {
    const ChatMessage reply = {.role = "assistant", .content = std::string(kReply)};
    const std::string plain = render({kQuestion, reply, kThanks});
    const size_t reply_at = plain.find(kReply);
    const size_t name_at = text.find(kCall);
    if (reply_at == plain.npos || name_at == text.npos) return std::nullopt;
    const size_t common = static_cast<size_t>(
        std::ranges::mismatch(text, std::string_view(plain).substr(0, reply_at)).in1 - text.begin());
    size_t begin = text.rfind('{', name_at);
    if (begin == text.npos || begin < common) return std::nullopt;
    size_t end = json_end(text, begin);
    ToolCallFormat format;
    if (!fits(text.substr(begin, end - begin), format)) return std::nullopt;
    if (without_json_space(text.substr(common, begin - common)).ends_with('[')) {
      format.is_list = true;
      begin = text.rfind('[', begin);
      end = json_end(text, begin);
    }
    format.begin = text.substr(common, begin - common);
    while (format.begin.starts_with('\n') || format.begin.starts_with(' ')) format.begin.erase(0, 1);
    format.end = end_mark(format.begin, text.substr(end));
    return format;
  }

  static size_t json_end(std::string_view text, size_t begin) {
    JsonScanner scanner;
    for (size_t at = begin; at < text.size(); ++at) {
      const auto step = scanner.feed(text[at]);
      if (step == JsonScanner::Step::kBad) break;
      if (step == JsonScanner::Step::kDone) return at + 1;
    }
    return begin;  // not found
  }

  // True if the object is the call; sets the name of its arguments.
  static bool fits(std::string_view object, ToolCallFormat& format) {
    for (const char* name : {"arguments", "parameters"}) {
      format.arguments = name;
      if (read_tool_call(object, format)) return true;
    }
    return false;
  }

  // The closing mark, "</x>" for "<x>" and "<|/x|>" for "<|x|>", if the template writes it, with line breaks before it.
  static std::string end_mark(std::string_view begin, std::string_view after) {
    begin = without_json_space(begin);
    if (!begin.starts_with('<')) return {};
    const bool is_piped = begin.starts_with("<|");
    const std::string mark = is_piped ? "<|/" + std::string(begin.substr(2)) : "</" + std::string(begin.substr(1));
    const size_t at = std::min(after.find_first_not_of(" \n"), after.size());
    if (!after.substr(at).starts_with(mark)) return {};
    return std::string(after.substr(0, at)) + mark;
  }

  // For templates that tell the model how to call but do not render its calls: recognizes the mark in the source.
  std::optional<ToolCallFormat> known_calls() const {
    const std::string_view source = template_.source();
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
