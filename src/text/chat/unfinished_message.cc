#include "text/chat/unfinished_message.h"

#include <algorithm>
#include <vector>

namespace tern {
namespace {

// A word that stands nowhere in the conversation.
std::string new_word(std::span<const ChatMessage> messages) {
  std::string word = "ternEndsHere";
  while (std::ranges::any_of(messages, [&](const ChatMessage& m) { return m.content.contains(word); })) word += 'X';
  return word;
}

}  // namespace

// The word marks the end of the content: the content itself may also stand elsewhere, and templates trim it.
Result<std::string> render_unfinished(
    std::span<const ChatMessage> messages,
    const std::function<Result<std::string>(std::span<const ChatMessage> messages)>& render) {
  if (messages.empty() || messages.back().role != "assistant" || !messages.back().tool_calls.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "only an assistant's message without calls, at the end of the conversation, can be continued");
  }
  const std::string end = new_word(messages);
  std::vector<ChatMessage> marked(messages.begin(), messages.end());
  marked.back().content += end;
  TRY(std::string text, render(marked));
  const size_t at = text.rfind(end);
  if (at == std::string::npos) {
    return fail(ErrorCode::kNotSupported,
                "the model's chat template does not show the beginning of a reply, so it cannot be continued");
  }
  text.resize(at);
  return text;
}

}  // namespace tern
