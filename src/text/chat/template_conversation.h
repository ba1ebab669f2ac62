// A conversation as the variables of a chat template, with transformers' names.
#pragma once

#include <span>
#include <string_view>

#include "tern/chat.h"
#include "tern/options.h"
#include "text/jinja/renderer.h"

namespace tern {

// How a template wants messages, where templates differ.
struct MessageStyle {
  bool typed_content = false;   // contents are lists: [{"type": "text", "text": …}]
  bool null_content = false;    // a message with calls and without content has none instead of ""
  bool text_arguments = false;  // arguments of calls are JSON as text
};

// Size in bytes of all input of a template.
size_t conversation_bytes(std::span<const ChatMessage> messages, const ChatOptions& options);

// "messages", "tools", "add_generation_prompt" and the rest. `source` is the template's: thoughts that it does
// not read are left out. RequestFailure: invalid tools or arguments, or calls in a message
// whose role is not "assistant". The result points into the arguments.
TemplateNames conversation_names(std::span<const ChatMessage> messages, const ChatOptions& options,
                                 std::string_view source, const MessageStyle& style, TemplateMemory& memory);

}  // namespace tern
