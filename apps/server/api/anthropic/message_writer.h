// Writes answers of /v1/messages: a list of blocks, or events for each block from its beginning to its end.
#pragma once

#include <memory>

#include "server/api/replies/answer.h"
#include "server/api/replies/conversation.h"
#include "server/api/replies/mcp_rounds.h"

namespace tern::server::anthropic {

// `more`: further fields of the message.
std::unique_ptr<AnswerWriter> message_writer(const ModelProfile& model, const ConversationPrompt& prompt,
                                             std::shared_ptr<McpRounds> rounds, const Json& more);

}  // namespace tern::server::anthropic
