// A chat turn with tools.
#include <algorithm>
#include <utility>

#include "tern/chat_reply.h"
#include "text/chat/forms/json_scanner.h"
#include "text/chat/forms/tool_list.h"

namespace tern {
namespace {

using GrammarPtr = std::shared_ptr<const Grammar>;

std::unexpected<Error> about_tools(std::string_view what, Error error) {
  error.message = format_text("tools: {}{}", what, error.message);
  return std::unexpected(std::move(error));
}

// Forces a call: the prompt contains its beginning, and the grammar of the tools' schemas constrains the rest.
Result<void> require_call(const ToolUse& use, ChatTurn& turn, GenerateOptions& generate, const MakeToolCall& make) {
  TRY(const ToolCallGrammar call,
      tool_call_grammar(turn.format, use.to_call(), {.name = use.required, .parallel = use.parallel}));
  auto grammar = make(call.schema, "");
  if (!grammar) return about_tools("", std::move(grammar).error());
  generate.grammar = *std::move(grammar);
  turn.begin = call.begin;
  turn.end = call.end;
  turn.reply.stream_arguments = true;
  if (turn.reply.in_thought) turn.prompt.text += turn.format.think_end;
  if (!turn.format.content_end.empty()) {
    if (!turn.prompt.text.ends_with(turn.format.content_begin)) turn.prompt.text += turn.format.content_begin;
    turn.prompt.text += turn.format.content_end;
  } else if (turn.reply.in_thought) {
    turn.prompt.text += "\n\n";
  }
  turn.prompt.text += call.begin;
  turn.reply.in_thought = false;
  generate.thoughts = {};
  return {};
}

// The constraint on calls that the model makes by choice; null: no constraint is possible, and none is required.
Result<GrammarPtr> grammar_of_calls(const ToolUse& use, const ChatTurn& turn, const std::vector<Tool>& tools,
                                    const MakeToolCall& make) {
  const std::string end(turn.format.calls->marked ? "" : without_json_space(turn.format.calls->end));
  ToolChoice choice{.parallel = use.parallel, .is_forced = false};
  TRY(ToolCallGrammar call, tool_call_grammar(turn.format, use.to_call(), choice));
  auto grammar = make(call.schema, end);
  if (grammar) return grammar;
  choice.loose.resize(tools.size());
  for (size_t i = 0; i < tools.size(); ++i) {
    const auto alone = Grammar::json_schema(tools[i].parameters);
    if (alone) continue;
    if (tools[i].is_strict)
      return about_tools(format_text("number {}, '{}', is strict, but ", i + 1, tools[i].name), alone.error());
    choice.loose[i] = true;
  }
  TRY(call, tool_call_grammar(turn.format, use.to_call(), choice));
  grammar = make(call.schema, end);
  if (grammar) return grammar;
  if (std::ranges::any_of(tools, &Tool::is_strict)) return about_tools("some are strict, but ", grammar.error());
  return nullptr;
}

// The reply has the form that was asked for, or is a call; the grammar has both.
Result<void> allow_calls(const ToolUse& use, ChatTurn& turn, GenerateOptions& generate, const MakeToolCall& make) {
  if (!turn.format.calls)
    return fail(ErrorCode::kNotSupported,
                "tools: with a format of the reply they need calls in a form that Tern can read");
  TRY(const ToolCallGrammar call,
      tool_call_grammar(turn.format, use.to_call(), {.parallel = use.parallel, .is_forced = false}));
  auto calls = make(call.whole, "");
  if (!calls) return about_tools("with a format of the reply, ", std::move(calls).error());
  TRY(generate.grammar, Grammar::either(*generate.grammar, **calls));
  return {};
}

Result<void> hold_calls(const ToolUse& use, ChatTurn& turn, GenerateOptions& generate, const MakeToolCall& make) {
  TRY(const std::vector<Tool> tools, read_tools(use.to_call()));
  const auto strict = std::ranges::find_if(tools, &Tool::is_strict);
  if (!turn.format.calls) {
    if (strict == tools.end()) return {};
    return fail(ErrorCode::kNotSupported,
                "tools: number {}, '{}', is strict, but the model's chat template has no tool calls in a form that "
                "Tern can read; ask without \"strict\"",
                strict - tools.begin() + 1, strict->name);
  }
  TRY(turn.reply.grammar, grammar_of_calls(use, turn, tools, make));
  if (!turn.reply.grammar) return {};
  turn.reply.stream_arguments = true;
  generate.calls = std::make_shared<const ConstrainedCalls>(turn.format, turn.reply, !use.parallel);
  return {};
}

}  // namespace

Result<ChatTurn> chat_turn(ChatFormat format, ChatPrompt prompt, const ToolUse& use, GenerateOptions& generate,
                           const MakeToolCall& make) {
  ChatTurn turn{.prompt = std::move(prompt), .format = std::move(format)};
  turn.reply.in_thought = turn.format.opens_thought(turn.prompt.text);
  generate.thoughts = turn.format.thoughts(turn.prompt.text, generate.thoughts.tokens);
  if (!generate.grammar || turn.reply.in_thought) generate.shown_tokens = turn.format.thought_tokens;
  if (use.choice == ToolUse::Choice::kNone) return turn;
  TRY(turn.reply.tool_names, tool_names(use.to_call()));
  turn.reply.tools = use.to_call();
  if (turn.reply.tool_names.empty() && use.choice == ToolUse::Choice::kAuto) return turn;
  generate.shown_tokens = turn.format.shown_tokens;
  const bool is_required = use.choice == ToolUse::Choice::kRequired;
  if (generate.grammar && !is_required) {
    TRY_STATUS(allow_calls(use, turn, generate, make));
    return turn;
  }
  TRY_STATUS(is_required ? require_call(use, turn, generate, make) : hold_calls(use, turn, generate, make));
  return turn;
}

}  // namespace tern
