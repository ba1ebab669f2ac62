// Splits a chat model's reply into thoughts, content and tool calls while the text is still arriving.
//
//   const auto format = engine.chat_format();
//   tern::ChatReplyParser parser(format, {.tool_names = {"get_weather"}, .in_thought =
//   format.opens_thought(prompt.text)}); session.generate(tokens, {.shown_tokens = format.shown_tokens},
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

// One newly parsed part of a reply.
struct ChatDelta {
  enum class Kind : uint8_t {
    kContent,        // more `text` of the content
    kReasoning,      // … of the thoughts
    kCallBegin,      // the start of call number `call`, with `id` and `name`
    kCallArguments,  // more `text` of its arguments; together they are a JSON object as the model wrote it
  };
  Kind kind = Kind::kContent;
  std::string text = {};
  int call = -1;  // 0, 1, …
  std::string id = {};
  std::string name = {};

  bool operator==(const ChatDelta&) const = default;
};

struct ChatReplyOptions {
  // The functions that the request offers. A call of any other function stays content. If empty, everything except
  // thoughts is content.
  std::vector<std::string> tool_names = {};
  // These functions' list, as in ChatOptions::tools: values that a form of calls writes without quotes are strings or
  // not by the parameter's schema. Without it, they are what they look like.
  std::string tools = {};
  bool in_thought = false;  // the prompt ends inside a thought (ChatFormat::opens_thought)
  // Report a call's arguments as they arrive. Use it only if a grammar constrains the reply to the format: if the text
  // breaks off or becomes invalid, the call keeps the arguments so far; the rest is content if it is invalid. If false,
  // a call is reported once it is complete. Calls in a list are always reported at its end. With `grammar`, only a call
  // that it allows up to its arguments is reported so.
  bool stream_arguments = false;
  // Calls have to match this grammar (Grammar::tool_call()); others stay content. Null: anything that looks like a
  // call.
  std::shared_ptr<const Grammar> grammar = {};
  uint64_t id_seed = 0;  // seed of the calls' ids; 0: different ids each time
};

// Parses one reply, which may arrive in pieces cut anywhere: the concatenated deltas of one kind do not depend on the
// cuts. Deltas are whole UTF-8 characters if the pieces are. Text that only looks like a call stays content, byte for
// byte: invalid JSON, other members than a call has, an unknown function, or no end. Only marks and the line breaks
// next to them are removed: around a call, at both ends of a thought, and between it and the content. A thought is
// recognized only at the start of the reply. Time is linear in the text. At most the marks of one line or one call of
// up to 1 MiB is held back (longer calls stay content).
class ChatReplyParser {
 public:
  explicit ChatReplyParser(ChatFormat format, ChatReplyOptions options = {});
  ChatReplyParser(ChatReplyParser&&) noexcept;
  ChatReplyParser& operator=(ChatReplyParser&&) noexcept;
  ~ChatReplyParser();

  std::vector<ChatDelta> feed(std::string_view text);

  // Call this when the reply has ended for any reason; returns what was held back. A call that lacks only its end mark
  // counts. Do not feed anything afterwards.
  std::vector<ChatDelta> finish();

  int n_calls() const;  // calls reported so far

  // The text so far of a call that has begun but is not complete, without white space between the parts of its JSON. It
  // is everything after the call's mark. If calls have no mark, it is there once the name of the first member shows
  // that it is a call.
  std::optional<std::string> partial_call() const;
  std::optional<std::string> begun_call() const { return partial_call(); }  // an older name

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Appends deltas to a message.
void append(ChatMessage& message, std::span<const ChatDelta> deltas);

// Messages in the format of OpenAI's API: {"role": …, "content": a text or null, "reasoning_content": …, "tool_calls":
// [{"id": …, "type": "function", "function": {"name": …, "arguments": a text}}], "tool_call_id": …, "name": …}.
// kInvalidArgument: what is wrong with the list.
Result<std::vector<ChatMessage>> messages_from_json(std::string_view json);
std::string message_to_json(const ChatMessage& message);

// The names of a request's tools (ChatOptions::tools). kInvalidArgument: what is wrong with the list, as in
// render_chat.
Result<std::vector<std::string>> tool_names(std::string_view tools);

struct ToolChoice {
  std::string name = {};  // the only function that may be called; empty: any
  bool parallel = false;  // allow several calls; a forced call that has no marks is one
  bool is_forced = true;  // false: the model begins calls itself; calls without a mark may then have an id and a type
  std::vector<bool> loose = {};  // element i: tool i accepts any object as its arguments
};

// The parts of a reply that must be a function call: `begin`, JSON that matches `schema`, `end`. The JSON's members
// must come in the schema's order. To force a call, end the prompt with `begin` and feed `begin` to the parser before
// the reply. If the model may choose, wait until it has written `trigger`.
struct ToolCallGrammar {
  std::string begin = {};  // literal text
  std::string end = {};    // literal text
  // For Grammar::tool_call(): a JSON schema, as text, in which tool i's parameters are in #/$defs/i, references
  // adjusted; or a description of calls between marks.
  std::string schema = {};
  std::string whole = {};               // for Grammar::tool_call(): everything, from `begin` to `end`
  std::string trigger = {};             // text with which the model itself begins a call
  bool triggers_only_at_start = false;  // the trigger counts only at the start of the reply
};

// kInvalidArgument: as tool_names(), or no tool of that name; kNotSupported: Tern cannot parse the model's call syntax.
Result<ToolCallGrammar> tool_call_grammar(const ChatFormat& format, std::string_view tools,
                                          const ToolChoice& choice = {});

// Constrains the calls in a reply to the tools' parameters and leaves all other text unconstrained.
struct ConstrainedCalls {
  ChatFormat format = {};
  ChatReplyOptions reply = {};  // how the reply is parsed; its grammar is that of the calls
  bool only_one = false;        // the reply ends after its first call
};
using HeldCalls = ConstrainedCalls;  // an older name

// A request's tools, and whether the reply calls them: the model decides, no calls, or a call is required.
struct ToolUse {
  std::string tools = {};  // in the format of ChatOptions::tools
  // Those of them that may be called, in the same format; empty: all. The model is told of all, so that the prompt's
  // beginning stays the same.
  std::string callable = {};
  enum class Choice : uint8_t { kAuto, kNone, kRequired } choice = Choice::kAuto;
  std::string required = {};  // with kRequired: the only function that may be called; empty: any
  bool parallel = true;       // allow several calls in one reply

  const std::string& to_call() const { return callable.empty() ? tools : callable; }
};

// The rendered conversation, and how to parse its reply.
struct ChatTurn {
  ChatPrompt prompt = {};
  ChatFormat format = {};
  ChatReplyOptions reply = {};
  // If the reply must be a call: feed `begin` to the parser before the reply's text, and `end` after it if the reply
  // ended by itself. The prompt ends with `begin`.
  std::string begin = {}, end = {};
};

// Makes a Grammar::tool_call(), or returns one made earlier from the same arguments.
using MakeToolCall =
    std::function<Result<std::shared_ptr<const Grammar>>(const std::string& schema, const std::string& end)>;

// Prepares a turn with tools. `prompt` must have been rendered with them, or without them if calls are forbidden. Adds
// the reply's constraints to `generate`. If the model may choose, a call that it begins is constrained to its tool's
// parameters; if these cannot be enforced, the arguments may be any object unless the tool is "strict". With another
// grammar the reply matches that or is a call.
// kInvalidArgument: as tool_names(), or no tool has the required name. kNotSupported: required or strict parameters
// that cannot be enforced (the message names the tool and the place), or a call syntax that Tern cannot parse. Messages
// about the list of tools begin with "tools:".
Result<ChatTurn> chat_turn(ChatFormat format, ChatPrompt prompt, const ToolUse& use, GenerateOptions& generate,
                           const MakeToolCall& make = Grammar::tool_call);

}  // namespace tern
