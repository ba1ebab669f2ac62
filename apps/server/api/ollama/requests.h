// Reads requests of Ollama's API for text: /api/chat and /api/generate.
#pragma once

#include "server/api/replies/answer.h"
#include "server/api/replies/completions.h"

namespace tern::server::ollama {

ApiResult<Asked> read_chat(const Json& body, const ModelProfile& model, const Client& client);
ApiResult<Asked> read_generate(const Json& body, const ModelProfile& model, const Client& client);

// True for a request without a prompt, by which clients load or unload a model.
bool is_for_loading(const Json& body, bool is_chat);
// The answer to it.
Json loading_json(const Json& body, const std::string& model, bool is_chat);

}  // namespace tern::server::ollama
