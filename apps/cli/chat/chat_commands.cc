#include "cli/chat/chat_commands.h"

#include <algorithm>
#include <cstdio>

#include "cli/chat/conversation_file.h"
#include "cli/chat/tool_caller.h"
#include "cli/support/common.h"
#include "cli/terminal/layout.h"

namespace tern::cli {

struct ChatCommands::Entry {
  std::string name;
  std::string argument;  // as the help shows it; empty: takes none
  std::string help;
  void (ChatCommands::*run)(const std::string& argument);  // null: leaves the chat
};

const std::vector<ChatCommands::Entry>& ChatCommands::entries() {
  static const std::vector<Entry> kEntries = {
      {"/help", "", "this list", &ChatCommands::help},
      {"/system", "TEXT", "set the system message; alone: show it; -: remove it", &ChatCommands::system},
      {"/set", "OPTION VALUE", "change temp, top-k, seed …; alone: list them", &ChatCommands::set},
      {"/save", "FILE", "write the conversation to a file, as JSON", &ChatCommands::save},
      {"/load", "FILE", "continue a saved conversation", &ChatCommands::load},
      {"/tools", "", "the tools that the model may call", &ChatCommands::tools},
      {"/stats", "", "speeds of the last reply", &ChatCommands::stats},
      {"/reset", "", "forget the conversation", &ChatCommands::reset},
      {"/quit", "", "leave (also /exit, Ctrl-D)", nullptr},
  };
  return kEntries;
}

std::string ChatCommands::help() {
  std::string text;
  const auto line = [&](const std::string& left, const std::string& right) {
    text += format_text("  {}  {}\n", pad(left, 22), right);
  };
  for (const Entry& entry : entries())
    line(entry.name + (entry.argument.empty() ? "" : " " + entry.argument), entry.help);
  line("//TEXT", "send a message that begins with /");
  line("Ctrl-C", "stop the reply");
  line("Alt-Enter", "a line break within a message; so is \\ at the end of a line");
  return text;
}

std::vector<Completion> ChatCommands::completions() {
  std::vector<Completion> all;
  for (const Entry& entry : entries()) {
    all.push_back({.text = entry.name + (entry.argument.empty() ? "" : " "), .help = entry.help});
    if (entry.name != "/set") continue;
    for (const std::string& name : ReplyFlags::setting_names())
      all.push_back({.text = "/set " + name + " ", .help = entry.help});
  }
  return all;
}

std::optional<ChatCommands::Next> ChatCommands::take(std::string& line) {
  if (!line.starts_with('/')) return std::nullopt;
  if (line.starts_with("//")) {
    line.erase(0, 1);
    return std::nullopt;
  }
  const size_t end = std::min(line.find_first_of(" \t\n"), line.size());
  const std::string name = line.substr(0, end);
  const size_t first = line.find_first_not_of(" \t\n", end);
  const std::string argument = first == line.npos ? "" : line.substr(first, line.find_last_not_of(" \t\n") + 1 - first);
  if (name == "/exit") return Next::kLeave;
  const auto entry = std::ranges::find(entries(), name, &Entry::name);
  if (entry == entries().end()) {
    print_note(format_text("there is no command {}; /help lists them, and // begins a message that starts with /",
                           shorten(one_line(name), 40)));
  } else if (entry->argument.empty() && !argument.empty()) {
    print_note(format_text("{} takes nothing after it; to send a message that begins like this, type /{}", name, name));
  } else if (!entry->run) {
    return Next::kLeave;
  } else {
    (this->*entry->run)(argument);
  }
  return Next::kGoOn;
}

void ChatCommands::help(const std::string&) { std::fputs(help().c_str(), stderr); }

void ChatCommands::system(const std::string& text) {
  if (text.empty()) {
    const std::string now = conversation_.system();
    return print_note(now.empty() ? "there is no system message; /system TEXT sets one" : "system: " + now);
  }
  const Result<void> set = conversation_.set_system(text == "-" ? "" : text);
  if (!set) return print_note(set.error().message);
  print_note(text == "-" ? "the system message is removed" : "the system message is set");
}

void ChatCommands::set(const std::string& words) {
  const size_t space = words.find_first_of(" \t=");
  std::string name = words.substr(0, space);
  if (name == "temperature") name = "temp";
  const std::string value = space == words.npos ? "" : words.substr(words.find_first_not_of(" \t=", space));
  if (words.empty()) {
    for (const std::string& each : ReplyFlags::setting_names())
      std::fprintf(stderr, "  %s  %s\n", pad(each, 14).c_str(), conversation_.options().setting(each).c_str());
    return;
  }
  if (value.empty() && !conversation_.options().setting(name).empty())
    return print_note(format_text("{} is {}", name, conversation_.options().setting(name)));
  const Result<void> set = conversation_.set(name, value);
  print_note(set ? format_text("{} is {}", name, conversation_.options().setting(name)) : set.error().message);
}

void ChatCommands::save(const std::string& path) {
  if (path.empty()) return print_note("name a file: /save FILE");
  const std::vector<ChatMessage> messages = conversation_.messages();
  const Result<void> saved = save_conversation(path, conversation_.engine().info().name, messages);
  print_note(saved ? format_text("saved to {}", path) : saved.error().message);
}

void ChatCommands::load(const std::string& path) {
  if (path.empty()) return print_note("name a file: /load FILE");
  Result<std::vector<ChatMessage>> messages = load_conversation(path);
  if (!messages) return print_note(messages.error().message);
  const size_t n = messages->size();
  const Result<void> restored = conversation_.restore(*std::move(messages));
  if (!restored) return print_note(format_text("{}: {}", path, restored.error().message));
  last_.reset();
  print_note(format_text("{} message{} from {}", n, n == 1 ? "" : "s", path));
}

void ChatCommands::stats(const std::string&) {
  if (!last_) return print_note("there is no reply yet");
  print_stats(conversation_.engine(), conversation_.session(), *last_, conversation_.sampling());
}

void ChatCommands::tools(const std::string&) {
  if (!tools_) return print_note("there are no tools; --mcp FILE gives the model those of MCP servers");
  tools_->list();
}

void ChatCommands::reset(const std::string&) {
  conversation_.reset();
  last_.reset();
  print_note("the conversation is forgotten");
}

}  // namespace tern::cli
