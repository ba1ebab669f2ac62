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
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tern/chat.h"
#include "tern/error.h"
#include "tern/grammar.h"

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
  // What calls have to be: Grammar::tool_call(). Others stay content. Null: anything that looks like a call.
  std::shared_ptr<const Grammar> grammar = {};
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

  // What there is of a call that has begun and may still become one, without white space between the parts of its JSON:
  // all after its mark, or, where calls have none, once the first member's name says that it is one.
  std::optional<std::string> begun_call() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Puts deltas into a message.
void append(ChatMessage& message, std::span<const ChatDelta> deltas);

// Messages as OpenAI's interface has them: {"role": …, "content": a text or null, "reasoning_content": …, "tool_calls":
// [{"id": …, "type": "function", "function": {"name": …, "arguments": a text}}], "tool_call_id": …, "name": …}.
// kInvalidArgument: what is wrong with the list.
Result<std::vector<ChatMessage>> messages_from_json(std::string_view json);
std::string message_to_json(const ChatMessage& message);

// The names of a request's tools, ChatOptions::tools. kInvalidArgument: what is wrong with the list, as in render_chat.
Result<std::vector<std::string>> tool_names(std::string_view tools);

struct ToolChoice {
  std::string name = {};         // the only function that may be called; empty: any
  bool parallel = false;         // several calls, where `calls` is a list: the schema allows more than one
  bool is_forced = true;         // false: the model begins calls itself, and what has no mark may have an id and a type
  std::vector<bool> loose = {};  // of tool i: any object may be its arguments
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

// Holds the calls that a reply makes of its own accord to what the tools take, and leaves all else free.
struct HeldCalls {
  ChatFormat format = {};
  ChatReplyOptions reply = {};  // how the reply is read: its grammar is that of the calls
  bool only_one = false;        // the reply ends behind its first call
};

// What a request says about tools, and who decides whether they are called: the model, nobody, or the request.
struct ToolUse {
  std::string tools = {};  // as ChatOptions::tools
  enum class Choice : uint8_t { kAuto, kNone, kRequired } choice = Choice::kAuto;
  std::string required = {};  // with kRequired: the only function that may be called; empty: any
  bool parallel = true;       // several calls in a reply
};

// The rendered conversation, and how its reply is to be read.
struct ChatTurn {
  std::string prompt = {};
  ChatFormat format = {};
  ChatReplyOptions reply = {};
  // Of a reply that has to be a call: what the parser is to be fed before its text, and, where it ended by itself,
  // after it. The prompt ends with the first.
  std::string begin = {}, end = {};
};

// Makes Grammar::tool_call(), or finds one that was made of the same.
using MakeToolCall =
    std::function<Result<std::shared_ptr<const Grammar>>(const std::string& schema, const std::string& end)>;

// A turn with tools: `prompt` is rendered with them (unless nobody may call any). Adds to `generate` what the reply is
// held to. Where the model may choose, a call that it begins is held to its tool's parameters; where these say what a
// reply cannot be held to, any object may be the arguments, unless the tool is "strict". kInvalidArgument: as
// tool_names(), or none of the required name; kNotSupported: parameters that a reply has to be held to and cannot be,
// with the tool and the place, tools beside another grammar, calls whose form Tern cannot read. Messages about the list
// of tools begin with "tools:".
Result<ChatTurn> chat_turn(ChatFormat format, std::string prompt, const ToolUse& use, GenerateOptions& generate,
                           const MakeToolCall& make = Grammar::tool_call);

}  // namespace tern
