#include "text/chat/chat_format.h"

#include <algorithm>
#include <string>
#include <vector>

#include "text/chat/forms/call_probe.h"
#include "text/chat/forms/json_scanner.h"
#include "text/chat/forms/literal_match.h"
#include "text/chat/forms/thought_marks.h"
#include "text/chat/written_calls.h"

namespace tern {
namespace {

const ChatMessage kQuestion = {.role = "user", .content = "a"};

// The calls of LFM2's models, whose templates show none.
ToolCallFormat lists_of_python_calls() {
  using Kind = CallPiece::Kind;
  MarkedCalls calls{.pieces = {{.kind = Kind::kName},
                               {.kind = Kind::kText, .text = "("},
                               {.kind = Kind::kArguments},
                               {.kind = Kind::kText, .text = ")"}},
                    .between = ", ",
                    .values = MarkedCalls::Values::kPython,
                    .key_end = "=",
                    .pair_between = ", ",
                    .key_end_other = "="};
  return {.begin = "<|tool_call_start|>[", .end = "]<|tool_call_end|>", .marked = std::move(calls)};
}

class Prober {
 public:
  explicit Prober(const ChatTemplate& chat_template) : template_(chat_template) {}

  ChatFormat probe() const {
    ChatFormat format;
    const std::string prompt = render({kQuestion}, /*add_prompt=*/true);
    find_thought_marks(template_.source(), render_, prompt, format);
    format.has_tools = render({kQuestion}).contains("tern_tool");
    const CallProbe probe(render_, format, prompt);
    const std::string call = probe.calls({CallProbe::call()});
    format.has_tool_calls = call.contains(kProbeValue);
    format.has_tool_results = has_results();
    format.has_parallel_calls = !probe.calls({CallProbe::call(), CallProbe::other_call()}).empty();
    find_content_tags(probe, format);
    if (!format.has_tools) return format;
    format.calls = learn_calls(probe);
    if (!format.calls) format.calls = known_calls();
    if (format.calls && format.calls->marked && format.calls->begin.empty() &&
        format.calls->marked->pieces.front().kind == CallPiece::Kind::kName) {
      format.content_begin = probe.content_begin();
    }
    if (format.has_channels && format.calls && format.calls->marked) {
      format.calls->marked->in_channels = true;
      std::string& first = format.calls->marked->pieces.front().text;
      if (!first.starts_with(' ')) first.insert(0, " ");  // behind "<|start|>assistant"
    }
    if (format.calls && format.calls->begin.empty() && !format.calls->marked &&
        template_.source().contains("<|python_tag|>")) {
      format.calls->may_begin = "<|python_tag|>";
    }
    return format;
  }

 private:
  // Tags around the content that the prompt leaves to the model.
  void find_content_tags(const CallProbe& probe, ChatFormat& format) const {
    const auto& [begin, end] = probe.content_tags();
    if (begin.empty() || begin == format.think_begin) return;
    format.content_begin = begin;
    format.content_end = end;
    format.reply_end = probe.turn_end().substr(0, tag_end(probe.turn_end(), 0));
  }

  // Empty if the template raises an error.
  std::string render(const std::vector<ChatMessage>& messages, bool add_prompt = false) const {
    const ChatOptions options = {
        .add_generation_prompt = add_prompt,
        .tools = R"([{"type": "function", "function": {"name": "tern_tool", "description": "c", "parameters": )"
                 R"({"type": "object", "properties": {}}}}])"};
    return template_.render(messages, options).value_or(ChatPrompt()).text;
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
    const std::string_view source = template_.source();
    if (source.contains("[TOOL_CALLS]")) return ToolCallFormat{.begin = "[TOOL_CALLS]", .is_list = true};
    if (source.contains("<|tool_call|>")) {
      const bool has_end = source.contains("<|/tool_call|>");
      return ToolCallFormat{.begin = "<|tool_call|>", .end = has_end ? "<|/tool_call|>" : "", .is_list = true};
    }
    if (source.contains("<|tool_list_start|>")) return lists_of_python_calls();
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

ThoughtLimit ChatFormat::thoughts(std::string_view prompt, int tokens) const {
  if (has_channels) {
    return {.tokens = tokens,
            .begin = "<|channel|>analysis<|message|>",
            .end = "<|end|>",
            .forced = "<|end|><|start|>assistant<|channel|>final<|message|>"};
  }
  return {.tokens = tokens, .begin = think_begin, .end = think_end, .in_thought = opens_thought(prompt)};
}

ChatFormat find_chat_format(const ChatTemplate& chat_template) { return Prober(chat_template).probe(); }

namespace {

// The tags in a form's text, each of which may be a control token: <…>, [CAPITALS] and MiniMax's token before a tag.
void add_tags(std::string_view text, std::vector<std::string_view>& tags) {
  for (size_t at = text.find(']'); at != text.npos; at = text.find(']', at + 1)) {
    if (const size_t end = tag_token_end(text, at); end > at) tags.push_back(text.substr(at, end - at));
  }
  for (size_t at = text.find_first_of("<["); at != text.npos; at = text.find_first_of("<[", at + 1)) {
    const size_t end = text.find(text[at] == '<' ? '>' : ']', at);
    if (end != text.npos) tags.push_back(text.substr(at, end + 1 - at));
  }
}

std::vector<TokenId> control_tokens(const std::vector<std::string_view>& marks, const Tokenizer& tokenizer) {
  std::vector<TokenId> tokens;
  for (const std::string_view mark : marks) {
    const std::optional<TokenId> token = mark.empty() ? std::nullopt : tokenizer.find(mark);
    const bool is_new = token && !std::ranges::contains(tokens, *token);
    if (is_new && tokenizer.piece(*token).empty()) tokens.push_back(*token);
  }
  return tokens;
}

std::vector<std::string_view> marks_of(const ToolCallFormat& calls) {
  std::vector<std::string_view> marks;
  const auto add = [&](std::string_view text) {
    marks.push_back(without_json_space(text));
    add_tags(text, marks);
  };
  for (const std::string* text : {&calls.begin, &calls.end, &calls.may_begin}) add(*text);
  if (!calls.marked) return marks;
  const MarkedCalls& form = *calls.marked;
  for (const CallPiece& piece : form.pieces) add(piece.text);
  for (const std::string* text : {&form.between, &form.key_begin, &form.key_end, &form.key_end_other, &form.value_end,
                                  &form.pair_between, &form.value_end_name}) {
    add(*text);
  }
  if (form.values == MarkedCalls::Values::kGemma) marks.push_back("<|\"|>");
  return marks;
}

// A call's last mark that ends the reply anyway need not be waited for, nor asked of the model.
void drop_stop_token(ToolCallFormat& calls, const Tokenizer& tokenizer) {
  const auto stops = [&](std::string_view mark) {
    const std::string_view text = without_json_space(mark);
    const auto token = text.empty() ? std::nullopt : tokenizer.find(text);
    return token && std::ranges::contains(tokenizer.stop_tokens(), *token);
  };
  if (!calls.marked && !calls.is_list && stops(calls.end)) calls.end.clear();
  if (!calls.marked || calls.marked->values != MarkedCalls::Values::kJson || !calls.end.empty()) return;
  std::vector<CallPiece>& pieces = calls.marked->pieces;
  if (pieces.back().kind == CallPiece::Kind::kText && stops(pieces.back().text)) pieces.pop_back();
}

}  // namespace

void add_tokens(ChatFormat& format, const Tokenizer& tokenizer) {
  if (format.think_begin.empty() && !format.has_channels && tokenizer.find("<think>") && tokenizer.find("</think>")) {
    format.think_begin = "<think>";
    format.think_end = "</think>";
  }
  if (format.has_tools && !format.calls && tokenizer.find("<|tool_call_start|>") &&
      tokenizer.find("<|tool_call_end|>")) {
    format.calls = lists_of_python_calls();
  }
  std::vector<std::string_view> marks = {format.think_begin, format.think_end};
  for (const std::string* text :
       {&format.think_begin, &format.think_end, &format.content_begin, &format.content_end, &format.reply_end}) {
    add_tags(*text, marks);
  }
  if (format.has_channels) {
    for (const char* mark : {"<|start|>", "<|channel|>", "<|constrain|>", "<|message|>", "<|end|>"})
      marks.push_back(mark);
  }
  format.thought_tokens = control_tokens(marks, tokenizer);
  if (format.calls) {
    drop_stop_token(*format.calls, tokenizer);
    for (const std::string_view mark : marks_of(*format.calls)) marks.push_back(mark);
  }
  format.shown_tokens = control_tokens(marks, tokenizer);
}

Result<void> check_expressible(const ChatFormat& format, std::span<const ChatMessage> messages,
                               const ChatOptions& options) {
  const auto missing = [](std::string_view what, std::string_view instead) {
    return fail(ErrorCode::kNotSupported, "the model's chat template has no {}: {}", what, instead);
  };
  const bool has_tools = options.tools.find_first_not_of(" \t\r\n[]") != std::string::npos;
  if (has_tools && !format.has_tools) return missing("tools", "ask without them, or give a template that has");
  for (const ChatMessage& message : messages) {
    const bool writes = has_to_write_calls(format);
    if (!message.tool_calls.empty() && !format.has_tool_calls && !writes)
      return missing("tool calls", "leave them out of the assistant's messages, or give a template that has");
    if (message.tool_calls.size() > 1 && !format.has_parallel_calls && !writes)
      return missing("messages with more than one tool call", "put each into a message of its own");
    if (message.role == "tool" && !format.has_tool_results)
      return missing("messages of the role 'tool'", "give results as the user's, or a template that has");
  }
  return {};
}

}  // namespace tern
