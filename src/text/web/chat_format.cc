// In the browser a separate module detects a model's tool calls (src/engine/web/forms.cc). The engine's module renders
// only conversations without tools and refuses others.
#include "text/chat/chat_format.h"

#include "text/chat/written_calls.h"

namespace tern {

ChatFormat find_chat_format(const ChatTemplate&) { return {}; }

void add_tokens(ChatFormat&, const Tokenizer&) {}

Result<void> check_expressible(const ChatFormat&, std::span<const ChatMessage>, const ChatOptions&) {
  return fail(ErrorCode::kNotSupported, "conversations with tools are rendered by tern_forms.wasm");
}

Result<ChatPrompt> render_with_calls(const ChatFormat&, std::span<const ChatMessage> messages,
                                     const RenderMessages& render) {
  return render(messages);
}

}  // namespace tern
