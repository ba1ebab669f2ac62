// Conversations: their messages, tools and thoughts, and the marks with which a model writes thoughts and tool calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tern/options.h"

namespace tern {

// A function call that the model asks for.
struct ToolCall {
  std::string id = {};         // the result refers to it (ChatMessage::tool_call_id)
  std::string name = {};       // name of the function
  std::string arguments = {};  // a JSON object, as text; empty means {}

  bool operator==(const ToolCall&) const = default;
};

struct ChatMessage {
  std::string role;  // "system", "developer" (same as "system"), "user", "assistant" or "tool"
  std::string content = {};
  std::string reasoning = {};             // assistant: its thoughts before the content
  std::vector<ToolCall> tool_calls = {};  // assistant
  std::string tool_call_id = {};          // tool: id of the call whose result the content is
  std::string name = {};                  // name of the speaker or of the tool, for templates that use it
};

// A conversation as the model reads it: Tokenizer::encode_chat().
struct ChatPrompt {
  std::string text = {};
  // The parts of the text, in order, that messages and tools say. Only what the template itself writes has control
  // tokens.
  std::vector<TextRange> quoted = {};
  bool operator==(const ChatPrompt&) const = default;
};

// A part of a call that is not one JSON object: a literal text, or what differs from call to call.
struct CallPiece {
  enum class Kind : uint8_t {
    kText,       // `text`, literally
    kName,       // the function's name, perhaps twice
    kId,         // the call's id
    kIndex,      // its number in the reply: 0, 1, … or 1, 2, …
    kArguments,  // its arguments
  };
  Kind kind = Kind::kText;
  std::string text = {};
  bool operator==(const CallPiece&) const = default;
};

// Calls whose name and arguments are between marks: <function=f><parameter=a>1</parameter></function>.
struct MarkedCalls {
  enum class Values : uint8_t {
    kJson,      // the arguments are one JSON object
    kText,      // pairs of a key and a value: a string as it is, any other value as JSON
    kPython,    // pairs; values are Python's literals or JSON
    kGemma,     // pairs; strings are between <|"|>, the keys of objects are without quotes
    kElements,  // pairs; as kText, but objects are pairs again, and lists are pairs with the key `item`
  };
  std::vector<CallPiece> pieces = {};  // of one call
  std::string between = {};            // text between two calls
  Values values = Values::kJson;
  // Pairs: `key_begin`, the key, `key_end`, the value, `value_end`, with `pair_between` between two of them.
  std::string key_begin = {}, key_end = {}, value_end = {}, pair_between = {};
  std::string value_end_name = {};  // not empty: behind `value_end` come the key again and this text
  std::string item = {};            // the key of a list's items
  std::string key_end_other = {};   // instead of `key_end`, where the value is no string
  // Behind `key_end` come the value's type by its name in JSON Schema ("number" for every number) and this text.
  std::string type_end = {};
  std::string text_begin = {}, text_end = {};  // may be around a string, for example <![CDATA[…]]>
  bool is_sorted = false;                      // pairs come in the order of their keys
  bool in_channels = false;                    // a call is a message of gpt-oss, whose header varies
};

// The syntax of a model's tool calls: `begin`, then {"name": …, "arguments": {…}}, a list of such objects or `marked`
// calls, then `end`.
struct ToolCallFormat {
  std::string begin = {};  // e.g. "<tool_call>\n"; empty: a { at the start of the reply, or after a call, begins a call
  std::string end = {};    // e.g. "\n</tool_call>"; empty: the call ends with its JSON
  std::string may_begin = {};           // optional mark before a call if `begin` is empty (Llama's <|python_tag|>)
  std::string arguments = "arguments";  // name of the arguments member, or "parameters"
  bool is_list = false;                 // calls come as a list: [{…}, {…}]
  std::string name = "name";            // name of the member with the function's name
  std::string id = {};                  // name of the member with the call's id, if the template writes one
  bool id_is_first = false;             // it comes before the name
  std::optional<MarkedCalls> marked = {};
};

// What a model's chat template supports, and how to parse the model's replies; see Engine::chat_format().
struct ChatFormat {
  std::string think_begin = {};  // "<think>"; empty: the model does not mark its thoughts
  std::string think_end = {};
  std::optional<ToolCallFormat> calls = {};  // none: no tools, or a call syntax that Tern cannot parse
  std::string content_begin = {};  // text that comes before the content and is no part of it (Functionary's "all")
  std::string content_end = {};    // … behind it, if the template closes the content with a tag of its own
  std::string reply_end = {};      // … behind that and the calls
  bool has_channels = false;       // replies are messages with channels (gpt-oss): analysis, commentary and final

  bool has_tools = false;           // the template describes the tools to the model
  bool has_tool_calls = false;      // … renders an assistant's earlier calls
  bool has_tool_results = false;    // … renders messages of the role "tool"
  bool has_parallel_calls = false;  // … renders several calls in one message

  // Marks above that are control tokens. A reply leaves out their text unless GenerateOptions::shown_tokens names them.
  std::vector<TokenId> shown_tokens = {};
  std::vector<TokenId> thought_tokens = {};  // those of them that separate thoughts and content

  // True if the reply to this prompt (Engine::render_chat) begins inside a thought that the prompt has opened.
  bool opens_thought(std::string_view prompt) const;

  // GenerateOptions::thoughts for the reply to this prompt; `tokens`: at most so many, -1: any number.
  ThoughtLimit thoughts(std::string_view prompt, int tokens) const;
};

}  // namespace tern
