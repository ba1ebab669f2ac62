// A conversation whose last message is the beginning of the reply.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "tern/engine.h"

namespace tern {

// The text of the conversation up to the end of its last message's content, so that the model continues it. `render`
// renders a conversation. kInvalidArgument: the last message is not the assistant's, or has calls; kNotSupported: the
// template changes contents, so that the end cannot be found.
Result<std::string> render_unfinished(
    std::span<const ChatMessage> messages,
    const std::function<Result<std::string>(std::span<const ChatMessage> messages)>& render);

}  // namespace tern
