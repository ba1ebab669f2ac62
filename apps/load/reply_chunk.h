// Parses an event of a streamed reply: text, token counts, an error.
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
  std::optional<int64_t> cached_tokens = {};  // prompt tokens that came from the server's cache
};

struct ReplyChunk {
  std::string text = {};     // content, reasoning, refusals, and the names and arguments of tool calls, in this order
  std::string content = {};  // the part that belongs in a conversation's history
  std::string finish_reason = {};  // "stop", "length"; empty before the end
  std::optional<Usage> usage = {};
  std::optional<std::string> error = {};  // the error that the server reports
};

// Parses the data of an event other than "[DONE]". Texts of all choices are joined. kCorruption: not a JSON object.
Result<ReplyChunk> parse_chunk(Api api, std::string_view data);

// The message in the body of an error, whatever its shape: {"error": {"message": …}}, {"error": …}, {"detail": …}, or
// the beginning of the text. One line; empty if there is none.
std::string error_message(std::string_view body);

// The first model that GET /models lists; empty if the body lists none.
std::optional<std::string> first_model(std::string_view body);

}  // namespace tern::load
