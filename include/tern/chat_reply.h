// The parts of a chat model's reply: its thoughts, its content, and the tools that it calls, told apart while the text
// is still coming.
//
//   const auto format = engine.chat_format();
//   tern::ChatReplyParser parser(format, {.tool_names = {"get_weather"}, .in_thought = format.opens_thought(prompt)});
//   session.generate(tokens, {.shown_tokens = format.shown_tokens},
//                    [&](std::string_view text) { for (const auto& delta : parser.feed(text)) …; });
//   for (const auto& delta : parser.finish()) …;
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tern/chat.h"
#include "tern/error.h"

namespace tern {

// What has become known of a reply.
struct ChatDelta {
  enum class Kind : uint8_t {
    kContent,        // more `text` of the content
    kReasoning,      // … of the thoughts
    kCallBegin,      // the call number `call`, with `id` and `name`
    kCallArguments,  // more `text` of its arguments, which together are a JSON object as the model wrote it
  };
  Kind kind = Kind::kContent;
  std::string text = {};
  int call = -1;  // 0, 1, …
  std::string id = {};
  std::string name = {};

  bool operator==(const ChatDelta&) const = default;
};

struct ChatReplyOptions {
  // The functions that the request offers. What looks like the call of another one stays content, and without any
  // everything but thoughts is content.
  std::vector<std::string> tool_names = {};
  bool in_thought = false;  // the prompt ends inside a thought (ChatFormat::opens_thought)
  // Tell of a call's arguments as they come. Only for replies that a grammar holds to the format: where the text breaks
  // off, or goes wrong after all, the call stands with the arguments that it has, and what follows is content. Without
  // it a call is told of when it is whole. Calls in a list are told of at its end either way.
  bool stream_arguments = false;
  uint64_t id_seed = 0;  // of the calls' ids; 0: different ones each time
};

// A parser of one reply, which may be cut into pieces anywhere: the deltas of one kind, put together, do not depend on
// the cuts. Deltas are whole UTF-8 characters if the pieces are. What merely looks like a call, because it is no JSON,
// has other members than a call, names an unknown function, or has no end, stays content, to the byte. Only marks are
// left out, and line breaks next to them: around a call, at either end of a thought, and between it and the content.
// A thought is looked for where the reply begins. Time is linear in the text; what is held back is at most a line's
// marks or one call of at most 1 MiB (longer ones stay content).
class ChatReplyParser {
 public:
  explicit ChatReplyParser(ChatFormat format, ChatReplyOptions options = {});
  ChatReplyParser(ChatReplyParser&&) noexcept;
  ChatReplyParser& operator=(ChatReplyParser&&) noexcept;
  ~ChatReplyParser();

  std::vector<ChatDelta> feed(std::string_view text);

  // The reply has ended, for whatever reason: tells of what was held back. A call that is whole but for its end mark
  // counts. Nothing may be fed after it.
  std::vector<ChatDelta> finish();

  int n_calls() const;  // that have been told of

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Puts deltas into a message.
void append(ChatMessage& message, std::span<const ChatDelta> deltas);

// The names of a request's tools, ChatOptions::tools. kInvalidArgument: what is wrong with the list, as in render_chat.
Result<std::vector<std::string>> tool_names(std::string_view tools);

struct ToolChoice {
  std::string name = {};  // the only function that may be called; empty: any
  bool parallel = false;  // several calls, where `calls` is a list: the schema allows more than one
};

// What a reply that has to call a function consists of: `begin`, JSON that `schema` describes, `end`. The JSON's
// members must come in the schema's order. To force a call, let the prompt end with `begin` and feed it to the parser
// before the reply; or wait, where the model may choose, until it has written `trigger`.
struct ToolCallGrammar {
  std::string begin = {};    // literal text
  std::string end = {};      // the same
  std::string schema = {};   // a JSON schema, as text; the parameters of tool i are in #/$defs/i, and refer to that
  std::string trigger = {};  // with this text the model begins a call, of its own accord
  bool triggers_only_at_start = false;  // … where a reply begins with it
};

// kInvalidArgument: as tool_names(), or no tool of that name; kNotSupported: calls have no form that Tern can read.
Result<ToolCallGrammar> tool_call_grammar(const ChatFormat& format, std::string_view tools,
                                          const ToolChoice& choice = {});

}  // namespace tern
