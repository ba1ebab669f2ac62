// Conversations with calls for a template that renders none, though the form of the model's calls is known: the calls
// become a part of the contents.
#pragma once

#include <functional>
#include <span>

#include "base/result.h"
#include "tern/chat.h"

namespace tern {

// True if calls can be written for this template, and have to be.
bool has_to_write_calls(const ChatFormat& format);

using RenderMessages = std::function<Result<ChatPrompt>(std::span<const ChatMessage> messages)>;

// Renders the messages. Only the marks around a call may be control tokens, not what a call says.
// kNotSupported: the template leaves out a content that has calls.
Result<ChatPrompt> render_with_calls(const ChatFormat& format, std::span<const ChatMessage> messages,
                                     const RenderMessages& render);

}  // namespace tern
