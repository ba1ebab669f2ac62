// Reply formats for the parser's tests, and a helper that runs the parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tern/chat_reply.h"

namespace tern {

// The forms of calls in published models.
inline ChatFormat tagged_format() {
  return {.think_begin = "<think>",
          .think_end = "</think>",
          .calls = ToolCallFormat{.begin = "<tool_call>\n", .end = "\n</tool_call>"}};
}
inline ChatFormat bare_format() {
  return {.think_begin = {},
          .think_end = {},
          .calls = ToolCallFormat{.may_begin = "<|python_tag|>", .arguments = "parameters"}};
}
inline ChatFormat listed_format() {
  return {.think_begin = {}, .think_end = {}, .calls = ToolCallFormat{.begin = "[TOOL_CALLS] ", .is_list = true}};
}
inline ChatFormat listed_and_closed_format() {
  return {.think_begin = {},
          .think_end = {},
          .calls = ToolCallFormat{.begin = "<|tool_call|>", .end = "<|/tool_call|>", .is_list = true}};
}

inline ChatReplyOptions with_tools() { return {.tool_names = {"f", "get_weather"}, .id_seed = 7}; }

// The whole reply. Every delta is checked: none is empty, and calls come in order.
struct ReadReply {
  ChatMessage message;
  std::vector<ChatDelta> deltas;
  std::string wrong;  // what is wrong with the deltas
};

inline ReadReply read_pieces(const ChatFormat& format, const ChatReplyOptions& options,
                             const std::vector<std::string_view>& pieces) {
  ChatReplyParser parser(format, options);
  ReadReply read;
  int n_calls = 0;
  const auto take = [&](const std::vector<ChatDelta>& deltas) {
    for (const ChatDelta& delta : deltas) {
      const bool begins = delta.kind == ChatDelta::Kind::kCallBegin;
      const bool of_call = begins || delta.kind == ChatDelta::Kind::kCallArguments;
      if (begins && delta.call != n_calls++) read.wrong += "a call out of order; ";
      if (begins == !delta.text.empty()) read.wrong += "an empty delta; ";
      if (of_call ? delta.call != n_calls - 1 : delta.call != -1) read.wrong += "a delta of another call; ";
      read.deltas.push_back(delta);
    }
    append(read.message, deltas);
  };
  for (const std::string_view piece : pieces) take(parser.feed(piece));
  take(parser.finish());
  if (parser.n_calls() != n_calls) read.wrong += "another number of calls; ";
  return read;
}

inline std::string arguments_text(const ToolCall& call) { return call.name + call.arguments; }

// "thoughts|content|name{arguments}…"
inline std::string summary(const ReadReply& read) {
  std::string text = read.message.reasoning + "|" + read.message.content + "|";
  for (const ToolCall& call : read.message.tool_calls) text += arguments_text(call);
  return read.wrong + text;
}

inline std::string parse(const ChatFormat& format, std::string_view text,
                         const ChatReplyOptions& options = with_tools()) {
  return summary(read_pieces(format, options, {text}));
}

}  // namespace tern
