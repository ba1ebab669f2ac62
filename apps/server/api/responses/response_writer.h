// Writes answers of /v1/responses: items, and named events.
#pragma once

#include <memory>
#include <vector>

#include "server/api/replies/conversation.h"
#include "server/api/replies/mcp_rounds.h"
#include "server/api/responses/response_fields.h"
#include "server/api/tools/client_tools.h"

namespace tern::server {

struct ResponseStart {
  Json repeated;  // fields of the request that the answer repeats
  ResponseForm form = {};
  ResponseStore* store = nullptr;     // keeps the answer; null: it is not kept
  std::string owner = {};             // the API key for which it is kept
  Json items_before = Json::array();  // the conversation so far, which is kept with it
  std::shared_ptr<const ClientTools> tools = nullptr;
};

std::unique_ptr<AnswerWriter> response_writer(const ModelProfile& model, const ConversationPrompt& prompt,
                                              ResponseStart start, std::shared_ptr<McpRounds> rounds);

// The events of the stream that a kept answer had, or would have had.
std::vector<Json> replayed_events(const ResponseStore::Kept& kept);

}  // namespace tern::server
