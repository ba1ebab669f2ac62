#include "server/api/replies/thinking.h"

#include <array>
#include <limits>
#include <optional>

#include "base/text/format_text.h"

namespace tern::server {
namespace {

struct Effort {
  std::string_view name;
  std::string_view told;  // to templates with a variable for it: gpt-oss was trained with these three
  int tokens;             // for other models; -1: any number
};
constexpr std::array<Effort, 7> kEfforts = {{{"none", "low", 0},
                                             {"minimal", "low", 256},
                                             {"low", "low", 1024},
                                             {"medium", "medium", 8192},
                                             {"high", "high", -1},
                                             {"xhigh", "high", -1},
                                             {"max", "high", -1}}};

bool has_effort(const Engine& engine) {
  const auto chat_template = engine.chat_template();
  return chat_template && chat_template->source.contains("reasoning_effort");
}

// A variable that the request gives itself stays.
void add_variable(std::string& variables, const char* name, std::string_view value) {
  Json all = variables.empty() ? Json::object() : Json::parse(variables);
  all.emplace(name, value);
  variables = dump(all);
}

void read_effort(Fields& fields, const char* name, const Engine& engine, const Thinking& thinking) {
  std::optional<std::string> effort;
  fields.read(name, effort);
  if (!effort || set_effort(*effort, engine, thinking)) return;
  fields.fail(name, format_text("'{}' is not none, minimal, low, medium, high, xhigh or max", effort->substr(0, 40)));
}

void read_budget(Fields& fields, const char* name, const Thinking& thinking) {
  std::optional<int> tokens;  // -1: no limit, as in llama.cpp
  fields.read(name, tokens, Fields::Range{-1, std::numeric_limits<int>::max()});
  if (tokens) thinking.limit.tokens = *tokens;
}

// Anthropic's form, which others have taken over.
void read_type(Fields& fields, const Thinking& thinking) {
  std::string type;
  fields.read("type", type);
  if (type == "enabled") thinking.chat.think = true;
  if (type == "disabled") {
    thinking.chat.think = false;
    thinking.limit.tokens = 0;
  } else if (type != "enabled" && type != "adaptive" && type != "auto") {
    fields.fail("type", format_text("'{}' is not enabled, disabled or adaptive", type.substr(0, 40)));
  }
  read_budget(fields, "budget_tokens", thinking);
}

}  // namespace

bool set_effort(std::string_view effort, const Engine& engine, const Thinking& thinking) {
  for (const Effort& one : kEfforts) {
    if (one.name != effort) continue;
    const bool is_told = has_effort(engine);
    if (is_told) add_variable(thinking.chat.variables, "reasoning_effort", one.told);
    if (!is_told || one.tokens == 0) thinking.limit.tokens = one.tokens;
    if (!thinking.chat.think) thinking.chat.think = one.tokens != 0;
    return true;
  }
  return false;
}

void read_thinking(Fields& fields, const Engine& engine, const Thinking& thinking) {
  fields.read("enable_thinking", thinking.chat.think);
  read_effort(fields, "reasoning_effort", engine, thinking);
  fields.within("reasoning", [&](Fields& inner) {
    inner.read("enabled", thinking.chat.think);
    read_effort(inner, "effort", engine, thinking);
    read_budget(inner, "max_tokens", thinking);
  });
  fields.within("output_config", [&](Fields& inner) { read_effort(inner, "effort", engine, thinking); });
  fields.within("thinking", [&](Fields& inner) { read_type(inner, thinking); });
  for (const char* name : {"thinking_budget", "thinking_budget_tokens", "thinking_token_budget", "reasoning_budget"}) {
    read_budget(fields, name, thinking);
  }
}

}  // namespace tern::server
