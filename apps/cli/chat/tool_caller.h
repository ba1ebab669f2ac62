// Calls of tools in a chat: shows them, asks whether they may be made, and makes them.
#pragma once

#include <string>

#include "mcp/tool_set.h"
#include "tern/chat.h"

namespace tern::cli {

class ToolCaller {
 public:
  // `person`: someone at the terminal can be asked. `rounds`: of calls before an answer, at most.
  ToolCaller(mcp::ToolSet& tools, bool person, int rounds) : tools_(tools), person_(person), rounds_(rounds) {}

  // The tools, for a prompt; lists them again if they have changed.
  std::string json();
  int rounds() const { return rounds_; }

  struct Outcome {
    std::string text;         // for the model
    bool is_stopped = false;  // Ctrl-C: the turn ends here
  };
  Outcome call(const ToolCall& call);

  void list() const;  // on standard error

 private:
  enum class Answer { kYes, kNo, kStop };
  Answer ask(const mcp::Tool& tool);

  mcp::ToolSet& tools_;
  const bool person_;
  const int rounds_;
};

}  // namespace tern::cli
