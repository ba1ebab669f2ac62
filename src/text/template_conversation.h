// A conversation as the variables of a chat template, named as transformers names them.
#pragma once

#include <span>
#include <string_view>

#include "tern/chat.h"
#include "tern/options.h"
#include "text/template_renderer.h"

namespace tern {

// Bytes of everything that a template is given.
size_t conversation_bytes(std::span<const ChatMessage> messages, const ChatOptions& options);

// "messages", "tools", "add_generation_prompt" and the rest. `source` is the template's: what it never names is refused
// where a conversation has it (thoughts, variables). RequestFailure: tools or arguments that are not what they have to
// be, calls of somebody who is no assistant. What is returned points into the arguments.
TemplateNames conversation_names(std::span<const ChatMessage> messages, const ChatOptions& options,
                                 std::string_view source, TemplateMemory& memory);

}  // namespace tern
