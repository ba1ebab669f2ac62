// Parses any bytes as a model's reply. However the text is cut, the parts are the same, and no content is lost.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tern/chat_reply.h"

namespace {

struct Parts {
  std::string content, reasoning, calls;
  bool breaks_off = false;  // inside a call
  bool operator==(const Parts&) const = default;
};

Parts read(const tern::ChatFormat& format, std::string_view text, size_t piece, bool streams) {
  tern::ChatReplyParser parser(format, {.tool_names = {"f"}, .stream_arguments = streams, .id_seed = 1});
  tern::ChatMessage message;
  while (!text.empty()) {
    const size_t n = std::min(piece, text.size());
    append(message, parser.feed(text.substr(0, n)));
    text.remove_prefix(n);
  }
  const bool breaks_off = parser.partial_call().has_value();
  append(message, parser.finish());
  Parts parts = {.content = message.content, .reasoning = message.reasoning, .calls = {}, .breaks_off = breaks_off};
  for (const tern::ToolCall& call : message.tool_calls) parts.calls += call.id + call.name + call.arguments + "\n";
  return parts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  using Kind = tern::CallPiece::Kind;
  using Values = tern::MarkedCalls::Values;
  const tern::MarkedCalls kMarked[] = {
      {.pieces = {{Kind::kText, "<tool_call>\n<function="},
                  {Kind::kName},
                  {Kind::kText, ">\n"},
                  {Kind::kArguments},
                  {Kind::kText, "</function>\n</tool_call>"}},
       .values = Values::kText,
       .key_begin = "<parameter=",
       .key_end = ">\n",
       .value_end = "\n</parameter>\n",
       .key_end_other = ">\n"},
      {.pieces = {{Kind::kName}, {Kind::kText, "("}, {Kind::kArguments}, {Kind::kText, ")"}},
       .between = ", ",
       .values = Values::kPython,
       .key_end = "=",
       .pair_between = ", ",
       .key_end_other = "="},
      {.pieces = {{Kind::kText, "<|tool_call>call:"},
                  {Kind::kName},
                  {Kind::kText, "{"},
                  {Kind::kArguments},
                  {Kind::kText, "}<tool_call|>"}},
       .values = Values::kGemma,
       .key_end = ":",
       .pair_between = ",",
       .key_end_other = ":"},
      {.pieces = {{Kind::kText, "<|c|>functions."},
                  {Kind::kName},
                  {Kind::kText, ":"},
                  {Kind::kIndex},
                  {Kind::kText, "<|a|>"},
                  {Kind::kArguments},
                  {Kind::kText, "<|/c|>"}}},
      {.pieces = {{Kind::kText, "<|open|>call tool=\""},
                  {Kind::kName},
                  {Kind::kText, "\" index=\""},
                  {Kind::kIndex},
                  {Kind::kText, "\"<|sep|>"},
                  {Kind::kArguments},
                  {Kind::kText, "<|close|>call<|sep|>"}},
       .values = Values::kText,
       .key_begin = "<|open|>argument key=\"",
       .key_end = "\" type=\"",
       .value_end = "<|close|>argument<|sep|>",
       .type_end = "\"<|sep|>"},
      {.pieces = {{Kind::kText, "<f="}, {Kind::kName}, {Kind::kText, ">"}, {Kind::kArguments}, {Kind::kText, "</f>"}},
       .values = Values::kText,
       .key_begin = "<p=",
       .key_end = ">",
       .value_end = "</p>",
       .key_end_other = ">",
       .text_begin = "<![CDATA[",
       .text_end = "]]>"},
      {.pieces = {{Kind::kText, " to="},
                  {Kind::kName},
                  {Kind::kText, "<|message|><i="},
                  {Kind::kName},
                  {Kind::kText, ">"},
                  {Kind::kArguments},
                  {Kind::kText, "</i>"}},
       .between = "<|eom|><|start|>",
       .values = Values::kText,
       .key_begin = "<p=",
       .key_end = ">",
       .value_end = "</p>",
       .key_end_other = ">"},
      {.pieces = {{Kind::kText, "]<]m[>[<i="},
                  {Kind::kName},
                  {Kind::kText, ">"},
                  {Kind::kArguments},
                  {Kind::kText, "]<]m[>[</i>"}},
       .values = Values::kElements,
       .key_begin = "]<]m[>[<",
       .key_end = ">",
       .value_end = "]<]m[>[</",
       .value_end_name = ">",
       .item = "item",
       .key_end_other = ">"}};
  const tern::ToolCallFormat kForms[] = {
      {.begin = "<tool_call>\n", .end = "\n</tool_call>"},
      {.may_begin = "<|python_tag|>", .arguments = "parameters"},
      {.begin = "[TOOL_CALLS] ", .is_list = true},
      {.begin = "<|tool_call|>", .end = "<|/tool_call|>", .is_list = true},
      {.marked = kMarked[0]},
      {.begin = "<|s|>[", .end = "]<|/s|>", .marked = kMarked[1]},
      {.marked = kMarked[2]},
      {.begin = "<|s|>", .end = "<|/s|>", .marked = kMarked[3]},
      {.begin = "<|open|>tools<|sep|>", .end = "<|close|>tools<|sep|>", .marked = kMarked[4]},
      {.marked = kMarked[5]},
      {.marked = kMarked[6]},
      {.begin = "]<]m[>[<c>\n", .end = "]<]m[>[</c>", .marked = kMarked[7]}};
  const bool thinks = (data[0] & 8) != 0;
  const bool streams = (data[0] & 16) != 0;
  const bool has_channels = (data[0] & 32) != 0;
  const bool has_tags = (data[0] & 128) != 0;
  tern::ChatFormat format = {.think_begin = thinks ? "<think>" : "",
                             .think_end = thinks ? "</think>" : "",
                             .calls = kForms[(data[0] & 64) != 0 ? 8 + (data[0] & 3) : data[0] & 7],
                             .has_channels = has_channels};
  if (has_tags) {
    format.content_begin = "<r>";
    format.content_end = "</r>";
    format.reply_end = "</m>";
  }
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Parts whole = read(format, text, text.size(), streams);
  if (read(format, text, 1, streams) != whole) std::abort();
  if (read(format, text, 1 + data[1] % 16, streams) != whole) std::abort();
  if (thinks || has_channels || has_tags || !whole.calls.empty() || whole.content == text) return 0;
  // Where arguments are streamed, the reply is held to the form: what breaks off in a call is no content.
  if (!streams || !whole.breaks_off || !text.starts_with(whole.content)) std::abort();
  return 0;
}
