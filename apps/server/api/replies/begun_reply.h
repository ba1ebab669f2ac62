// Conversations whose last message is the assistant's: the reply continues it.
#pragma once

#include <string>
#include <vector>

#include "server/api/replies/conversation.h"

namespace tern::server {

// As make_prompt(). 400 also if the reply would have to begin with a call instead.
ApiResult<ConversationPrompt> make_continued_prompt(const std::vector<ChatMessage>& messages, const std::string& name,
                                                    const ChatOptions& options, const ToolUse& tools,
                                                    const ModelProfile& model, GenerateOptions& generate);

}  // namespace tern::server
