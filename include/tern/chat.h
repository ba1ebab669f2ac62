// Conversations: their messages, with tools and thinking, and what a model writes where it thinks or calls a tool.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tern/options.h"

namespace tern {

// A function that the model wants to be called.
struct ToolCall {
  std::string id = {};         // which the result names (ChatMessage::tool_call_id)
  std::string name = {};       // of the function
  std::string arguments = {};  // a JSON object, as text; empty: {}

  bool operator==(const ToolCall&) const = default;
};

struct ChatMessage {
  std::string role;  // "system" or "developer", which is the same, "user", "assistant" or "tool"
  std::string content = {};
  std::string reasoning = {};             // assistant: what it thought before the content
  std::vector<ToolCall> tool_calls = {};  // assistant
  std::string tool_call_id = {};          // tool: the call whose result the content is
  std::string name = {};                  // of who speaks, or of the tool, where the template wants it
};

// How a model writes its calls: `begin`, then {"name": …, "arguments": {…}}, or a list of such objects, then `end`.
struct ToolCallFormat {
  std::string begin = {};      // e.g. "<tool_call>\n"; empty: a reply, or what follows a call, that begins with {
  std::string end = {};        // e.g. "\n</tool_call>"; empty: with the JSON
  std::string may_begin = {};  // may also stand before a call that has no `begin` (Llama's <|python_tag|>)
  std::string arguments = "arguments";  // or "parameters"
  bool is_list = false;                 // [{…}, {…}]
};

// What a model's chat template knows, and how the model's replies are to be read; see Engine::chat_format().
struct ChatFormat {
  std::string think_begin = {};  // "<think>"; empty: the model has no mark for its thoughts
  std::string think_end = {};
  std::optional<ToolCallFormat> calls = {};  // none: no tools, or calls in a form that Tern cannot read

  bool has_tools = false;           // the template tells the model of tools
  bool has_tool_calls = false;      // … repeats the calls that an assistant made
  bool has_tool_results = false;    // … has messages of the role "tool"
  bool has_parallel_calls = false;  // … has several calls in a message

  // Marks of the above that are control tokens, whose text a reply leaves out unless GenerateOptions::shown_tokens
  // names them.
  std::vector<TokenId> shown_tokens = {};

  // Whether a reply to this prompt (Engine::render_chat) begins in the middle of a thought that the prompt has opened.
  bool opens_thought(std::string_view prompt) const;
};

}  // namespace tern
