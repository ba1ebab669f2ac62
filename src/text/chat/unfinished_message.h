// A conversation whose last message is the beginning of the reply.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tern/engine.h"

namespace tern {

// The prompt of the conversation up to the end of its last message's content, so that the model continues it. `render`
// renders a conversation. In that content, but in no other, `thought_marks` are the control tokens that they spell: a
// reply may have begun with a thought. kInvalidArgument: the last message is not the assistant's, or has calls;
// kNotSupported: the template changes contents, so that the end cannot be found.
Result<ChatPrompt> render_unfinished(
    std::span<const ChatMessage> messages,
    const std::function<Result<ChatPrompt>(std::span<const ChatMessage> messages)>& render,
    std::span<const std::string_view> thought_marks = {});

}  // namespace tern
