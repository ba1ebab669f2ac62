// How much a model may think before it answers, in the fields of all APIs.
#pragma once

#include <string>
#include <string_view>

#include "server/api/fields.h"
#include "tern/engine.h"

namespace tern::server {

struct Thinking {
  ChatOptions& chat;
  ThoughtLimit& limit;
};

// Reads enable_thinking; reasoning_effort, reasoning.effort, output_config.effort; thinking_budget and its other names,
// reasoning.max_tokens; and thinking: {type, budget_tokens}. A budget counts more than an effort.
void read_thinking(Fields& fields, const Engine& engine, const Thinking& thinking);

// False: `effort` is none of none, minimal, low, medium, high, xhigh and max. Templates that have a variable
// reasoning_effort get it. Other models may think for a number of tokens, and not at all with "none".
bool set_effort(std::string_view effort, const Engine& engine, const Thinking& thinking);

}  // namespace tern::server
