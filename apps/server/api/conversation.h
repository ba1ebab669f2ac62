// A conversation that a request brings: what the model reads of it, and how its reply is to be read.
#pragma once

#include <string>
#include <vector>

#include "server/api/completions.h"
#include "tern/chat_reply.h"

namespace tern::server {

// tools, tool_choice, parallel_tool_calls.
ApiResult<ToolUse> read_tool_use(Fields& fields);

struct ConversationPrompt {
  ChatTurn turn;
  std::vector<TokenId> tokens;
};

// `name`: of the messages, for errors. What the reply is to be held to is added to `generate`.
ApiResult<ConversationPrompt> make_prompt(const std::vector<ChatMessage>& messages, const std::string& name,
                                          const ChatOptions& options, const ToolUse& tools, const ModelProfile& model,
                                          GenerateOptions& generate);

// Variables of the template, and whether the model is to think before it answers.
ChatOptions read_chat_options(Fields& fields);

}  // namespace tern::server
