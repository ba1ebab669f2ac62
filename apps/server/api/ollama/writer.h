// Writes answers of Ollama's API: one JSON object, or a line of JSON for each piece.
#pragma once

#include <memory>

#include "server/api/replies/answer.h"
#include "server/api/replies/conversation.h"
#include "server/api/replies/mcp_rounds.h"

namespace tern::server::ollama {

// `is_chat`: the answer is a message, else a text.
std::unique_ptr<AnswerWriter> line_writer(const ModelProfile& model, const ConversationPrompt& prompt, bool is_chat,
                                          std::shared_ptr<McpRounds> rounds);

}  // namespace tern::server::ollama
