#include "server/api/anthropic/message_request.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "base/text/format_text.h"
#include "server/api/replies/answer.h"

namespace tern::server::anthropic {
namespace {

constexpr size_t kMostMessages = 10'000;

using ReadBlock = std::function<void(const std::string& type, Fields& block)>;

// Content is a text or a list of blocks; a text counts as one block.
void each_block(Fields& holder, std::string_view name, const ReadBlock& read) {
  const Json* content = holder.find(name);
  if (!content) return;
  if (content->is_string()) {
    const Json block = {{"type", "text"}, {"text", *content}};
    Fields fields(block);
    return read("text", fields);
  }
  if (!content->is_array()) return holder.fail(name, "must be a string or a list of blocks");
  for (size_t i = 0; i < content->size(); ++i) {
    holder.within_element(name, i, [&](Fields& block) {
      std::string type;
      block.read("type", type);
      type.empty() ? block.fail("type", "is missing") : read(type, block);
    });
  }
}

void refuse_type(Fields& block, const std::string& type) {
  block.fail("type", format_text("'{}' is not supported: this model reads text", type.substr(0, 40)));
}

// Several blocks of text are separate paragraphs.
void add_paragraph(Fields& block, std::string& text) {
  std::string piece;
  block.read("text", piece);
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += piece;
}

void add_line(const std::string& line, std::string& text) {
  if (line.empty()) return;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += line;
}

std::string read_texts(Fields& holder, std::string_view name);

// A document of text or a search result: what it is called, and its text. Citations would be part of the answer.
void add_document(Fields& block, const std::string& type, std::string& text) {
  std::string title, context, origin;
  bool cites = false;
  block.read("title", title);
  block.within("citations", [&](Fields& citations) { citations.read("enabled", cites); });
  if (cites) block.fail("citations", "are not supported");
  if (type == "search_result") {
    block.read("source", origin);
    for (const std::string& line : {title, origin, read_texts(block, "content")}) add_line(line, text);
    return;
  }
  block.read("context", context);
  add_line(title, text);
  add_line(context, text);
  if (!block.find("source")) block.fail("source", "is missing");
  block.within("source", [&](Fields& source) {
    std::string kind, data;
    source.read("type", kind);
    if (kind == "content") return add_line(read_texts(source, "content"), text);
    if (kind != "text") return refuse_type(source, kind);
    source.read("data", data);
    add_line(data, text);
  });
}

// True if the block was text of some kind.
bool add_text(Fields& block, const std::string& type, std::string& text) {
  if (type == "text") {
    add_paragraph(block, text);
  } else if (type == "document" || type == "search_result") {
    add_document(block, type, text);
  } else {
    return false;
  }
  return true;
}

std::string read_texts(Fields& holder, std::string_view name) {
  std::string text;
  each_block(holder, name, [&](const std::string& type, Fields& block) {
    if (!add_text(block, type, text)) refuse_type(block, type);
  });
  return text;
}

// Claude Code puts a line of bookkeeping first that changes with every request, so no prefix would be found again.
bool is_bookkeeping(Fields& block) {
  std::string text;
  block.read("text", text);
  return text.starts_with("x-anthropic-billing-header:");
}

std::string read_system(Fields& fields) {
  std::string text;
  each_block(fields, "system", [&](const std::string& type, Fields& block) {
    if (type != "text") return refuse_type(block, type);
    if (!is_bookkeeping(block)) add_paragraph(block, text);
  });
  return text;
}

class MessageList {
 public:
  void add(Fields& message) {
    std::string role;
    message.read("role", role);
    if (!message.find("content")) return message.fail("content", "is missing");
    if (role == "assistant") return add_assistant(message);
    if (role == "user") return add_user(message);
    if (role == "system") return list_.push_back({.role = role, .content = read_texts(message, "content")});
    message.fail("role", role.empty() ? "is missing: user or assistant"
                                      : format_text("'{}' is not user or assistant", role.substr(0, 40)));
  }

  std::vector<ChatMessage> take() { return std::move(list_); }

 private:
  void add_user(Fields& message) {
    std::string text;
    bool has_results = false;
    each_block(message, "content", [&](const std::string& type, Fields& block) {
      if (add_text(block, type, text)) return;
      if (type != "tool_result") return refuse_type(block, type);
      has_results = true;
      if (!text.empty()) list_.push_back({.role = "user", .content = std::exchange(text, {})});
      add_result(block);
    });
    if (!text.empty() || !has_results) list_.push_back({.role = "user", .content = std::move(text)});
  }

  void add_result(Fields& block) {
    ChatMessage result{.role = "tool"};
    bool is_error = false;
    block.read("tool_use_id", result.tool_call_id);
    block.read("is_error", is_error);
    const std::string text = read_texts(block, "content");
    result.content = is_error ? "Error: " + text : text;
    const auto it = std::ranges::find(calls_, result.tool_call_id, &ToolCall::id);
    if (it == calls_.end()) return block.fail("tool_use_id", "is that of no preceding tool_use block");
    result.name = it->name;
    list_.push_back(std::move(result));
  }

  void add_assistant(Fields& message) {
    ChatMessage reply{.role = "assistant"};
    each_block(message, "content", [&](const std::string& type, Fields& block) {
      std::string text;
      if (type == "text") {
        block.read("text", text);
        reply.content += text;
      } else if (type == "thinking") {
        block.read("thinking", text);
        reply.reasoning += text;
      } else if (type == "tool_use") {
        reply.tool_calls.push_back(read_call(block));
      } else if (type != "redacted_thinking") {  // that one is encrypted, and says nothing here
        refuse_type(block, type);
      }
    });
    calls_.insert(calls_.end(), reply.tool_calls.begin(), reply.tool_calls.end());
    list_.push_back(std::move(reply));
  }

  static ToolCall read_call(Fields& block) {
    ToolCall call;
    block.read("id", call.id);
    block.read("name", call.name);
    const Json* input = block.find("input");
    if (input && !input->is_object()) block.fail("input", "must be an object");
    if (input) call.arguments = dump(*input);
    return call;
  }

  std::vector<ChatMessage> list_;
  std::vector<ToolCall> calls_;  // in all messages so far
};

// A tool in the form of chat requests, with a function inside.
Json read_tool(Fields& tool) {
  std::string type = "custom", name, description;
  bool strict = false;
  tool.read("type", type);
  tool.read("name", name);
  tool.read("description", description);
  tool.read("strict", strict);
  if (type != "custom") {
    tool.fail("type", format_text("'{}' is not supported: only tools with an input_schema are", type.substr(0, 40)));
  }
  const Json* schema = tool.find("input_schema");
  if (!schema || !schema->is_object()) {
    tool.fail("input_schema", "must be a JSON schema");
    return {};
  }
  Json function = {{"name", name}};
  if (!description.empty()) function["description"] = description;
  function["parameters"] = *schema;
  if (strict) function["strict"] = true;
  return {{"type", "function"}, {"function", std::move(function)}};
}

void read_choice(Fields& choice, const std::vector<std::string>& names, ToolUse& use) {
  std::string type;
  bool only_one = false;
  choice.read("type", type);
  choice.read("disable_parallel_tool_use", only_one);
  use.parallel = !only_one;
  if (type == "auto") return;
  if (type == "none") {
    use.choice = ToolUse::Choice::kNone;
    return;
  }
  use.choice = ToolUse::Choice::kRequired;
  if (type == "tool") {
    choice.read("name", use.required);
    if (!std::ranges::contains(names, use.required)) {
      choice.fail("name", format_text("'{}' is none of the tools", use.required.substr(0, 64)));
    }
  } else if (type != "any") {
    choice.fail("type", format_text("'{}' is not auto, any, tool or none", type.substr(0, 40)));
  } else if (names.empty()) {
    choice.fail("type", "requires a call, but there are no tools");
  }
}

}  // namespace

ApiResult<std::vector<ChatMessage>> read_message_list(Fields& fields) {
  MessageList messages;
  const std::string system = read_system(fields);
  const Json* list = fields.find("messages");
  if (!list) fields.fail("messages", "is missing; give the conversation");
  if (list && (!list->is_array() || list->empty())) fields.fail("messages", "must be a list of at least one message");
  TRY_STATUS(fields.check());
  if (list->size() > kMostMessages) {
    fields.fail("messages", format_text("there are {}; at most {} are possible", list->size(), kMostMessages));
  }
  for (size_t i = 0; i < list->size(); ++i) {
    fields.within_element("messages", i, [&](Fields& message) { messages.add(message); });
  }
  TRY_STATUS(fields.check());
  std::vector<ChatMessage> all = messages.take();
  if (!system.empty()) all.insert(all.begin(), {.role = "system", .content = system});
  return all;
}

ApiResult<ToolUse> read_message_tools(Fields& fields, const std::string& others) {
  ToolUse use{.tools = others};
  Json tools = Json::array();
  std::vector<std::string> names = tool_names(others).value_or(std::vector<std::string>());
  if (const Json* list = fields.find("tools")) {
    if (!list->is_array()) fields.fail("tools", "must be a list");
    for (size_t i = 0; list->is_array() && i < list->size(); ++i) {
      fields.within_element("tools", i, [&](Fields& tool) { tools.push_back(read_tool(tool)); });
    }
  }
  TRY_STATUS(fields.check());
  if (!tools.empty()) {
    use.tools = dump(tools);
    Result<std::vector<std::string>> found = tool_names(use.tools);
    if (!found) return refuse(found.error().message, "tools");
    names = *std::move(found);
  }
  fields.within("tool_choice", [&](Fields& choice) { read_choice(choice, names, use); });
  TRY_STATUS(fields.check());
  return use;
}

}  // namespace tern::server::anthropic
