#include "server/api/conversation.h"

#include <algorithm>
#include <format>

namespace tern::server {
namespace {

// A model without a template continues texts: the conversation is a story that both write.
std::string story(const std::vector<ChatMessage>& messages) {
  std::string text;
  for (const ChatMessage& message : messages) {
    if (!text.empty() && !message.content.empty() && !text.ends_with('\n')) text += ' ';
    text += message.content;
  }
  return text;
}

// Thoughts of earlier turns are left out where the template has no place for them.
Result<std::string> rendered(const Engine& engine, const std::vector<ChatMessage>& messages,
                             const ChatOptions& options) {
  Result<std::string> text = engine.render_chat(messages, options);
  const bool has_thoughts = std::ranges::any_of(messages, [](const ChatMessage& m) { return !m.reasoning.empty(); });
  if (text || text.error().code != ErrorCode::kNotSupported || !has_thoughts) return text;
  std::vector<ChatMessage> without = messages;
  for (ChatMessage& message : without) message.reasoning.clear();
  return engine.render_chat(without, options);
}

// The name in {"type": "function", "function": {"name": …}}, or in {"type": "function", "name": …}.
void read_named_choice(Fields& choice, ToolUse& use) {
  std::string type = "function";
  choice.read("type", type);
  if (type != "function") return choice.fail("type", std::format("'{}' is not supported", type.substr(0, 40)));
  choice.read("name", use.required);
  choice.within("function", [&](Fields& function) { function.read("name", use.required); });
  if (use.required.empty()) choice.fail("function.name", "is missing");
}

void read_choice(Fields& fields, ToolUse& use) {
  const Json* choice = fields.find("tool_choice");
  if (!choice) return;
  if (choice->is_object()) {
    use.choice = ToolUse::Choice::kRequired;
    fields.within("tool_choice", [&](Fields& inner) { read_named_choice(inner, use); });
    if (!use.required.empty() && !std::ranges::contains(use.names, use.required)) {
      fields.fail("tool_choice", std::format("names '{}', which is none of the tools", use.required.substr(0, 64)));
    }
    return;
  }
  std::string name;
  fields.read("tool_choice", name);
  if (name == "auto") return;
  if (name != "none" && name != "required") {
    return fields.fail("tool_choice",
                       std::format("'{}' is not auto, none, required or a function", name.substr(0, 40)));
  }
  use.choice = name == "none" ? ToolUse::Choice::kNone : ToolUse::Choice::kRequired;
  if (name == "required" && use.names.empty()) fields.fail("tool_choice", "requires a call, but there are no tools");
}

// The reply is the inside of a call: the prompt begins it, and the grammar of the tools' schemas holds the model to it.
ApiResult<void> require_call(const ToolUse& tools, const ModelProfile& model, ConversationPrompt& prompt,
                             GenerateOptions& generate) {
  const ToolChoice choice{.name = tools.required, .parallel = tools.parallel};
  const Result<ToolCallGrammar> call = tool_call_grammar(prompt.format, tools.tools, choice);
  if (!call) return refuse(call.error().message, "tool_choice", "not_supported");
  API_TRY(generate.grammar, model.grammars.get(GrammarCache::Kind::kJsonSchema, call->schema, "tools"));
  prompt.begin = call->begin;
  prompt.end = call->end;
  prompt.reply.stream_arguments = true;
  prompt.text += prompt.reply.in_thought ? prompt.format.think_end + "\n\n" + call->begin : call->begin;
  prompt.reply.in_thought = false;
  return {};
}

}  // namespace

ChatOptions read_chat_options(Fields& fields) {
  ChatOptions options;
  fields.within("chat_template_kwargs", [&](Fields& inner) { inner.read("enable_thinking", options.think); });
  if (const Json* variables = fields.find("chat_template_kwargs"); variables && variables->is_object()) {
    Json others = *variables;
    others.erase("enable_thinking");
    if (!others.empty()) options.variables = dump(others);
  }
  fields.read("add_generation_prompt", options.add_generation_prompt);
  return options;
}

ApiResult<ToolUse> read_tool_use(Fields& fields) {
  ToolUse use;
  for (const char* name : {"functions", "function_call"}) {
    if (const Json* old = fields.find(name); old && !old->empty()) fields.fail(name, "is not supported; use tools");
  }
  if (const Json* tools = fields.find("tools"); tools && !tools->empty()) {
    use.tools = dump(*tools);
    Result<std::vector<std::string>> names = tool_names(use.tools);
    if (names) {
      use.names = *std::move(names);
    } else {
      fields.fail("tools", names.error().message);
    }
  }
  read_choice(fields, use);
  fields.read("parallel_tool_calls", use.parallel);
  API_TRY_STATUS(fields.check());
  return use;
}

ApiResult<ConversationPrompt> make_prompt(const std::vector<ChatMessage>& messages, const std::string& name,
                                          const ChatOptions& options, const ToolUse& tools, const ModelProfile& model,
                                          GenerateOptions& generate) {
  const Engine& engine = model.engine;
  ConversationPrompt prompt;
  const bool offers = !tools.tools.empty() && tools.choice != ToolUse::Choice::kNone;
  if (!engine.has_chat_template()) {
    if (offers)
      return refuse("tools: the model has no chat template, and can be told of none", "tools", "not_supported");
    prompt.text = story(messages);
    prompt.tokens = engine.tokenizer().encode(prompt.text);
    return prompt;
  }
  ChatOptions with_tools = options;
  if (offers) with_tools.tools = tools.tools;
  Result<std::string> text = rendered(engine, messages, with_tools);
  if (!text) {
    const bool about_tools = offers && text.error().message.contains("tools");
    return refuse(text.error().message, about_tools ? "tools" : name);
  }
  prompt.text = *std::move(text);
  prompt.format = engine.chat_format();
  prompt.reply.in_thought = prompt.format.opens_thought(prompt.text);
  if (offers) {
    prompt.reply.tool_names = tools.names;
    generate.shown_tokens = prompt.format.shown_tokens;
  }
  if (offers && generate.grammar) {
    return refuse("tools: together with a format of the reply are not supported", "tools", "not_supported");
  }
  if (tools.choice == ToolUse::Choice::kRequired) API_TRY_STATUS(require_call(tools, model, prompt, generate));
  prompt.tokens = engine.tokenizer().encode(prompt.text, {.add_bos = false, .parse_special = true});
  return prompt;
}

}  // namespace tern::server
