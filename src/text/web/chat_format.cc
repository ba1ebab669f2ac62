// In a tab nothing asks yet what a model's tool calls look like. The search for it, which renders a template time and
// again, is not part of the download, and tools are refused.
#include "text/chat_format.h"

namespace tern {

ChatFormat find_chat_format(const ChatTemplate&) { return {}; }

void add_tokens(ChatFormat&, const Tokenizer&) {}

Result<void> check_expressible(const ChatFormat&, std::span<const ChatMessage>, const ChatOptions&) {
  return fail(ErrorCode::kNotSupported, "the engine for browsers has no tools; use Tern on the host");
}

}  // namespace tern
