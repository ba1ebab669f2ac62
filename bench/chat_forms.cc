// Tells for each chat template of a folder which form of tool calls was found, whether calls that the template itself
// renders are read back, and whether the grammar of a forced call allows them.
//
// usage: chat_forms FOLDER
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/mapped_file.h"
#include "tern/chat_reply.h"
#include "text/chat/chat_format.h"
#include "text/chat/forms/call_probe.h"
#include "text/chat/forms/json_scanner.h"

namespace tern {
namespace {

constexpr const char* kTools = R"([
  {"type": "function", "function": {"name": "look_up", "description": "Looks.", "parameters": {"type": "object",
    "properties": {"place": {"type": "string", "description": "p"}, "days": {"type": "integer", "description": "d"},
      "exact": {"type": "boolean", "description": "e"},
      "options": {"type": "object", "description": "o", "additionalProperties": false, "properties": {"units": {"type": "string"}, "list": {"type": "array", "items":
      {"type": "number"}}}}}, "required": ["place"]}}},
  {"type": "function", "function": {"name": "now", "description": "Tells.", "parameters": {"type": "object",
    "properties": {}}}}])";
constexpr const char* kArguments =
    R"({"place": "5 <b> \"Rome\" é", "days": 3, "exact": true, "options": {"units": "°C", "list": [1, 2.5]}})";

std::string kind_of(const ToolCallFormat& calls) {
  if (!calls.marked) return calls.is_list ? "JSON list" : calls.begin.empty() ? "bare JSON" : "JSON";
  const char* const kValues[] = {"JSON", "plain text", "Python", "Gemma", "elements"};
  return std::string("marks, ") + kValues[static_cast<int>(calls.marked->values)];
}

std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? std::string("\\n") : std::string(1, c);
  return out;
}

struct Outcome {
  bool is_read = false, is_allowed = false;
  std::string why;
};

// Reads the calls that the template renders, and matches them with the grammar of a forced call.
Outcome try_calls(const ChatTemplate& chat, const ChatFormat& format, const std::vector<ToolCall>& calls) {
  Outcome outcome;
  std::string error;
  const RenderProbe render = [&](const std::vector<ChatMessage>& messages) {
    auto text = chat.render(messages, {.add_generation_prompt = false, .tools = kTools});
    if (!text) error = text.error().message;
    return text.value_or(ChatPrompt()).text;
  };
  const std::vector<ChatMessage> asked = {{.role = "user", .content = "a"}};
  const CallProbe probe(render, format, chat.render(asked, {.tools = kTools}).value_or(ChatPrompt()).text);
  const std::string whole = probe.calls(calls);
  std::string text(without_json_space(whole));
  if (whole.empty()) {
    outcome.why = "the template renders no such call; " + error;
    return outcome;
  }
  ChatReplyParser parser(format, {.tool_names = tool_names(kTools).value(), .tools = kTools, .id_seed = 1});
  ChatMessage message;
  append(message, parser.feed(text));
  append(message, parser.finish());
  outcome.is_read = message.tool_calls.size() == calls.size();
  for (size_t i = 0; outcome.is_read && i < calls.size(); ++i) {
    outcome.is_read =
        message.tool_calls[i].name == calls[i].name &&
        nlohmann::json::parse(message.tool_calls[i].arguments) == nlohmann::json::parse(calls[i].arguments);
  }
  if (!outcome.is_read) outcome.why = "read as: " + message_to_json(message);
  const auto grammar = tool_call_grammar(format, kTools, {.parallel = true});
  if (!grammar) {
    outcome.why += " " + grammar.error().message;
    return outcome;
  }
  const auto made = Grammar::tool_call(grammar->schema, "");
  if (!made) {
    outcome.why += " " + made.error().message;
    return outcome;
  }
  if (grammar->begin.starts_with(' ')) text.insert(0, " ");
  if (!text.starts_with(grammar->begin)) {
    outcome.why += " it begins with: " + text.substr(0, 60);
    return outcome;
  }
  // The call may be followed by what ends the turn.
  for (size_t n = text.size(); n > grammar->begin.size() && !outcome.is_allowed; --n) {
    outcome.is_allowed = (*made)->matches(text.substr(grammar->begin.size(), n - grammar->begin.size()));
  }
  if (!outcome.is_allowed) outcome.why += " not allowed: " + text + " by " + grammar->schema;
  return outcome;
}

bool report(const std::filesystem::path& path) {
  const ChatTemplate chat(read_text_file(path.string()).value(), "<BOS>", "<EOS>");
  const ChatFormat format = find_chat_format(chat);
  const std::string name = path.stem().string();
  if (!format.calls) {
    const auto text = chat.render(std::vector<ChatMessage>{{.role = "user", .content = "a"}}, {.tools = kTools});
    std::printf("--  %-58s %s%s\n", name.c_str(), format.has_tools ? "no form of calls" : "no tools",
                text ? "" : (": " + text.error().message).c_str());
    return false;
  }
  if (!format.has_tool_calls) {  // its form is known by a mark in the source
    const auto call = tool_call_grammar(format, kTools);
    const bool is_made = call && Grammar::tool_call(call->schema, "");
    std::printf("%s  %-58s %-18s forced %d, but the template writes no calls\n", is_made ? "ok" : "no", name.c_str(),
                kind_of(*format.calls).c_str(), is_made);
    return is_made;
  }
  const ToolCall one = {.id = "probecall", .name = "look_up", .arguments = kArguments};
  const ToolCall two = {.id = "otherprob", .name = "now", .arguments = "{}"};
  const Outcome single = try_calls(chat, format, {one});
  const Outcome both = format.has_parallel_calls ? try_calls(chat, format, {one, two}) : single;
  const bool is_good = single.is_read && single.is_allowed && both.is_read;
  const std::string begin =
      format.calls->begin.empty() && format.calls->marked ? format.calls->marked->pieces[0].text : format.calls->begin;
  std::printf("%s  %-58s %-18s read %d%d forced %d%d  %s … %s  think %s\n", is_good ? "ok" : "no", name.c_str(),
              kind_of(*format.calls).c_str(), single.is_read, both.is_read, single.is_allowed, both.is_allowed,
              shown(begin).c_str(), shown(format.calls->end).c_str(), shown(format.think_begin).c_str());
  if (!is_good) std::printf("      %s\n", shown(single.why.empty() ? both.why : single.why).c_str());
  return is_good;
}

}  // namespace
}  // namespace tern

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: chat_forms FOLDER\n");
    return 2;
  }
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    if (entry.path().extension() == ".jinja") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  int n_good = 0;
  for (const auto& path : paths) n_good += tern::report(path) ? 1 : 0;
  std::printf("%d of %zu\n", n_good, paths.size());
  return 0;
}
