// What an event of a streamed reply says: text, how many tokens there were, an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tern/error.h"

namespace tern::load {

enum class Api {
  kChat,         // POST /chat/completions, with messages
  kCompletions,  // POST /completions, with a prompt
};

struct Usage {
  int64_t output_tokens = 0;
  int64_t prompt_tokens = 0;
  std::optional<int64_t> cached_tokens = {};  // of the prompt, that the server had computed before
};

struct ReplyChunk {
  std::string text = {};     // content, reasoning, refusals, and the names and arguments of tool calls, in this order
  std::string content = {};  // what of it belongs into a conversation's history
  std::string finish_reason = {};  // "stop", "length"; empty before the end
  std::optional<Usage> usage = {};
  std::optional<std::string> error = {};  // what the server says has gone wrong
};

// `data` is the event's; not "[DONE]". Of several choices all count. kCorruption for what is no object of JSON.
Result<ReplyChunk> parse_chunk(Api api, std::string_view data);

// The message of an error's body, whatever its shape: {"error": {"message": …}}, {"error": …}, {"detail": …}, or the
// beginning of the text. One line; empty where there is nothing.
std::string error_message(std::string_view body);

// The first name of GET /models; nothing where the body names none.
std::optional<std::string> first_model(std::string_view body);

}  // namespace tern::load
