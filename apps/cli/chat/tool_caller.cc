#include "cli/chat/tool_caller.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "cli/flags/mcp_flags.h"
#include "cli/support/common.h"
#include "cli/terminal/answer.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/terminal.h"

namespace tern::cli {
namespace {

constexpr size_t kMostShown = 2000;  // columns of a call's arguments: what is allowed has to be seen
constexpr size_t kMostOfResult = 100;

}  // namespace

std::string ToolCaller::json() {
  const StopOnInterrupt stop;
  if (tools_.refresh(stop.token())) print_note(tools_in_a_line(tools_));
  return tools_.json();
}

// What was typed before the question is no answer to it.
ToolCaller::Answer ToolCaller::ask(const mcp::Tool& tool) {
  const InterruptPipe interrupt(InterruptPipe::SecondPress::kRepeats);
  discard_typed();
  while (true) {
    std::fprintf(stderr, "call it? [y]es, [n]o, [a]lways for %s: ", tool.name.c_str());
    const std::optional<std::string> line = read_answer(interrupt);
    if (!line) {
      std::fputs("\n", stderr);
      return Answer::kStop;
    }
    if (*line == "a" || *line == "always") tools_.allow(tool.name);
    if (*line == "y" || *line == "yes" || *line == "a" || *line == "always") return Answer::kYes;
    if (*line == "n" || *line == "no") return Answer::kNo;
  }
}

ToolCaller::Outcome ToolCaller::call(const ToolCall& call) {
  const StopOnInterrupt stop;  // before anything is shown: Ctrl-C may follow at once
  const std::vector<mcp::Tool> all = tools_.tools();
  const auto tool = std::ranges::find(all, call.name, &mcp::Tool::name);
  if (tool == all.end()) return {.text = "error: there is no such tool"};
  print_note(format_text("{}: {} {}", one_line(tool->server), tool->name,
                         shorten(one_line(call.arguments.empty() ? "{}" : call.arguments), kMostShown)));
  if (!tool->is_allowed) {
    if (!person_) {
      print_note(format_text("not called; --mcp-allow {} allows it", tool->name));
      return {.text = "error: the user has not allowed this tool"};
    }
    const Answer answer = ask(*tool);
    if (answer == Answer::kStop) return {.text = "error: the user stopped this call", .is_stopped = true};
    if (answer == Answer::kNo) return {.text = "error: the user did not allow this call"};
  }
  mcp::CallResult result = tools_.call(call.name, call.arguments, stop.token());
  print_note(result.problem.empty() ? "→ " + shorten(one_line(result.text), kMostOfResult) : one_line(result.problem));
  return {.text = std::move(result.text), .is_stopped = result.is_stopped || stop.interrupted()};
}

void ToolCaller::list() const {
  const Style style = Style::of(STDERR_FILENO);
  for (const mcp::Tool& tool : tools_.tools()) {
    const std::string text = one_line(tool.description.substr(0, 400));
    std::fprintf(stderr, "  %s  %s%s\n", style.bold(pad(tool.name, 22)).c_str(), shorten(text, 90).c_str(),
                 tool.is_allowed ? style.dim(" (needs no question)").c_str() : "");
  }
}

}  // namespace tern::cli
