// Commands that a user can type in a conversation: lines that begin with '/'.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/chat/conversation.h"
#include "cli/terminal/line_reader.h"

namespace tern::cli {

class ChatCommands {
 public:
  // `tools`: null if there are none.
  ChatCommands(Conversation& conversation, const ToolCaller* tools) : conversation_(conversation), tools_(tools) {}

  enum class Next { kGoOn, kLeave };

  // Runs the command in `line`, with notes on standard error. Returns nullopt if the line is a message; a message that
  // begins with "//" loses its first '/'.
  std::optional<Next> take(std::string& line);

  void set_last(GenerateResult result) { last_ = std::move(result); }  // for /stats

  static std::string help();
  static std::vector<Completion> completions();

 private:
  void help(const std::string& argument);
  void system(const std::string& text);
  void set(const std::string& words);
  void save(const std::string& path);
  void load(const std::string& path);
  void stats(const std::string& argument);
  void reset(const std::string& argument);
  void tools(const std::string& argument);

  struct Entry;
  static const std::vector<Entry>& entries();

  Conversation& conversation_;
  const ToolCaller* tools_;
  std::optional<GenerateResult> last_;
};

}  // namespace tern::cli
