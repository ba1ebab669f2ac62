#include "server/api/replies/conversation.h"

#include <algorithm>

#include "base/text/format_text.h"
#include "server/api/replies/thinking.h"

namespace tern::server {
namespace {

// For a model without a template, which only continues texts: joins the messages to a story.
std::string story(const std::vector<ChatMessage>& messages) {
  std::string text;
  for (const ChatMessage& message : messages) {
    if (!text.empty() && !message.content.empty() && !text.ends_with('\n')) text += ' ';
    text += message.content;
  }
  return text;
}

// Clients send instructions and then messages of the system or the developer, and some templates have a place for one
// only. nullopt: there are not several at the beginning.
std::optional<std::vector<ChatMessage>> with_one_system(const std::vector<ChatMessage>& messages) {
  const auto is_system = [](const ChatMessage& m) { return m.role == "system" || m.role == "developer"; };
  const auto end = std::ranges::find_if_not(messages, is_system);
  if (end - messages.begin() < 2) return std::nullopt;
  std::vector<ChatMessage> out = {messages.front()};
  for (auto one = messages.begin() + 1; one != end; ++one) out.front().content += "\n\n" + one->content;
  out.insert(out.end(), end, messages.end());
  return out;
}

// Omits the thoughts of earlier turns if the template does not support them.
Result<ChatPrompt> rendered(const Engine& engine, const std::vector<ChatMessage>& messages,
                            const ChatOptions& options) {
  Result<ChatPrompt> text = engine.render_chat(messages, options);
  const bool has_thoughts = std::ranges::any_of(messages, [](const ChatMessage& m) { return !m.reasoning.empty(); });
  if (text || text.error().code != ErrorCode::kNotSupported || !has_thoughts) return text;
  std::vector<ChatMessage> without = messages;
  for (ChatMessage& message : without) message.reasoning.clear();
  return engine.render_chat(without, options);
}

// The name in {"type": "function", "function": {"name": …}}, or in {"type": "function", "name": …}; also "custom".
void read_named_choice(Fields& choice, ToolUse& use) {
  std::string type = "function", space;
  choice.read("type", type);
  if (type != "function" && type != "custom")
    return choice.fail("type", format_text("'{}' is not supported", type.substr(0, 40)));
  choice.read("namespace", space);
  choice.read("name", use.required);
  choice.within(type, [&](Fields& holder) { holder.read("name", use.required); });
  if (use.required.empty()) choice.fail(type + ".name", "is missing");
  use.required = ClientTools::function_name(space, use.required);
}

// The tool's name, in a function's own object or beside the type.
std::string name_of(const Json& tool) {
  const auto text = [](const Json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  for (const char* kind : {"function", "custom"}) {
    const auto holder = tool.find(kind);
    if (holder != tool.end() && holder->is_object()) return text(*holder, "name");
  }
  return ClientTools::function_name(text(tool, "namespace"), text(tool, "name"));
}

// {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": …}]}: the model knows of all tools
// and may call these. Chats have mode and tools inside "allowed_tools".
void read_allowed_tools(Fields& choice, const Json& tools, ToolUse& use) {
  const auto read = [&](Fields& allowed) {
    std::string mode = "auto";
    allowed.read("mode", mode);
    if (mode != "auto" && mode != "required") {
      return allowed.fail("mode", format_text("'{}' is not auto or required", mode.substr(0, 40)));
    }
    if (mode == "required") use.choice = ToolUse::Choice::kRequired;
    const Json* list = allowed.find("tools");
    if (!list || !list->is_array() || list->empty()) return allowed.fail("tools", "must be a list of tools");
    Json callable = Json::array();
    for (const Json& one : *list) {
      const std::string name = one.is_object() ? name_of(one) : std::string();
      const auto known = std::ranges::find_if(tools, [&](const Json& tool) { return name_of(tool) == name; });
      if (name.empty() || known == tools.end()) {
        return allowed.fail("tools", format_text("names '{}', which is none of the tools", name.substr(0, 64)));
      }
      callable.push_back(*known);
    }
    use.callable = dump(callable);
  };
  choice.find("allowed_tools") ? choice.within("allowed_tools", read) : read(choice);
}

void read_choice(Fields& fields, const Json& tools, const std::vector<std::string>& names, ToolUse& use) {
  const Json* choice = fields.find("tool_choice");
  if (!choice) return;
  if (choice->is_object() && choice->value("type", Json()) == "allowed_tools") {
    return fields.within("tool_choice", [&](Fields& inner) { read_allowed_tools(inner, tools, use); });
  }
  if (choice->is_object()) {
    use.choice = ToolUse::Choice::kRequired;
    fields.within("tool_choice", [&](Fields& inner) { read_named_choice(inner, use); });
    if (!use.required.empty() && !std::ranges::contains(names, use.required)) {
      fields.fail("tool_choice", format_text("names '{}', which is none of the tools", use.required.substr(0, 64)));
    }
    return;
  }
  std::string name;
  fields.read("tool_choice", name);
  if (name == "auto") return;
  if (name != "none" && name != "required") {
    return fields.fail("tool_choice",
                       format_text("'{}' is not auto, none, required or a function", name.substr(0, 40)));
  }
  use.choice = name == "none" ? ToolUse::Choice::kNone : ToolUse::Choice::kRequired;
  if (name == "required" && names.empty()) fields.fail("tool_choice", "requires a call, but there are no tools");
}

// The list with functions instead of custom tools. Other tools are left for tool_names() to refuse.
Json functions_of(Fields& fields, const Json& tools, const OtherTools& client) {
  Json functions = Json::array();
  if (!tools.is_array()) return tools;
  for (size_t i = 0; i < tools.size(); ++i) {
    const bool is_custom = tools[i].is_object() && tools[i].value("type", Json()) == "custom";
    if (!is_custom) {
      functions.push_back(tools[i]);
      continue;
    }
    fields.within_element("tools", i,
                          [&](Fields& tool) { client.known.read(tool, tools[i], client.grammars, functions); });
  }
  client.known.check_names(fields, functions);
  return functions;
}

// The tools that may be called, with their arguments in any order. The model is told of the tools as they are.
void allow_any_order(Fields& fields, ToolUse& use) {
  bool any_order = false;
  fields.read("any_order", any_order);
  Json tools = any_order ? Json::parse(use.to_call(), nullptr, /*allow_exceptions=*/false) : Json();
  if (!tools.is_array()) return;
  for (Json& tool : tools) {
    if (!tool.is_object() || !tool.contains("function") || !tool["function"].contains("parameters")) continue;
    Json& parameters = tool["function"]["parameters"];
    if (const auto unordered = in_any_order(fields, parameters)) parameters = *unordered;
  }
  use.callable = dump(tools);
}

}  // namespace

ChatOptions read_chat_options(Fields& fields, const ModelProfile& model, ThoughtLimit& thoughts) {
  ChatOptions options{.parse_special = model.defaults.parse_special};
  fields.read("parse_special", options.parse_special);
  fields.within("chat_template_kwargs", [&](Fields& inner) { inner.read("enable_thinking", options.think); });
  if (const Json* variables = fields.find("chat_template_kwargs"); variables && variables->is_object()) {
    Json others = *variables;
    others.erase("enable_thinking");
    if (!others.empty()) options.variables = dump(others);
  }
  read_thinking(fields, model.engine, {.chat = options, .limit = thoughts});
  std::optional<bool> generation_prompt;
  fields.read("add_generation_prompt", generation_prompt);
  fields.read("continue_final_message", options.continue_final_message);
  if (options.continue_final_message && generation_prompt == true) {
    fields.fail("add_generation_prompt", "begins a new message, and continue_final_message continues the last one");
  }
  options.add_generation_prompt = generation_prompt.value_or(!options.continue_final_message);
  return options;
}

ApiResult<ToolUse> read_tool_use(Fields& fields, const std::string& others, std::optional<OtherTools> client) {
  ToolUse use{.tools = others};
  Json list = Json::array();
  std::vector<std::string> names = tool_names(others).value_or(std::vector<std::string>());
  for (const char* name : {"functions", "function_call"}) {
    if (const Json* old = fields.find(name); old && !old->empty()) fields.fail(name, "is not supported; use tools");
  }
  if (const Json* tools = fields.find("tools"); tools && !tools->empty()) {
    list = *tools;
    if (client) list = functions_of(fields, list, *client);
    use.tools = dump(list);
    Result<std::vector<std::string>> found = tool_names(use.tools);
    if (found) {
      names = *std::move(found);
    } else {
      const std::string& what = found.error().message;
      fields.fail("tools", what.starts_with("tools: ") ? what.substr(7) : what);
    }
  }
  read_choice(fields, list, names, use);
  fields.read("parallel_tool_calls", use.parallel);
  allow_any_order(fields, use);
  TRY_STATUS(fields.check());
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
    if (std::ranges::any_of(messages, [](const auto& m) { return !m.tool_calls.empty() || m.role == "tool"; })) {
      return refuse(
          name + ": the model has no chat template, and can be told of no tool calls and results; leave them out", name,
          "not_supported");
    }
    prompt.turn.prompt.text = story(messages);
    prompt.tokens = engine.tokenizer().encode(prompt.turn.prompt.text);
    return prompt;
  }
  ChatOptions with_tools = options;
  if (offers) with_tools.tools = tools.tools;
  Result<ChatPrompt> text = rendered(engine, messages, with_tools);
  if (const auto fewer = with_one_system(messages); !text && fewer) {
    if (auto other = rendered(engine, *fewer, with_tools)) text = std::move(other);
  }
  if (!text) {
    const bool about_tools = offers && text.error().message.contains("tools");
    return refuse(text.error().message, about_tools ? "tools" : name);
  }
  const auto make = [&model](const std::string& schema, const std::string& end) {
    return model.grammars.find_or_make(GrammarCache::Kind::kToolCall, schema, end);
  };
  Result<ChatTurn> turn = chat_turn(engine.chat_format(), *std::move(text), tools, generate, make);
  if (!turn) {
    const bool is_choice = !turn.error().message.starts_with("tools:");
    return refuse(turn.error().message, is_choice ? "tool_choice" : "tools", "not_supported");
  }
  prompt.turn = *std::move(turn);
  prompt.tokens = engine.tokenizer().encode_chat(prompt.turn.prompt);
  return prompt;
}

}  // namespace tern::server
