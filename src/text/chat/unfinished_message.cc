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

// The length of what both texts end with.
size_t common_end(std::string_view a, std::string_view b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[a.size() - 1 - n] == b[b.size() - 1 - n]) ++n;
  return n;
}

// Takes a range out of the quoted parts.
void unquote(TextRange range, std::vector<TextRange>& quoted) {
  std::vector<TextRange> kept;
  for (const TextRange& part : quoted) {
    if (part.begin < range.begin) kept.push_back({part.begin, std::min(part.end, range.begin)});
    if (part.end > range.end) kept.push_back({std::max(part.begin, range.end), part.end});
  }
  quoted = std::move(kept);
}

void unquote_marks(size_t begin, std::span<const std::string_view> marks, ChatPrompt& prompt) {
  for (const std::string_view mark : marks) {
    if (mark.empty()) continue;
    for (size_t at = prompt.text.find(mark, begin); at != std::string::npos; at = prompt.text.find(mark, at + 1)) {
      unquote({at, at + mark.size()}, prompt.quoted);
    }
  }
}

}  // namespace

// The word marks the end of the content: the content itself may also stand elsewhere, and templates trim it.
Result<ChatPrompt> render_unfinished(
    std::span<const ChatMessage> messages,
    const std::function<Result<ChatPrompt>(std::span<const ChatMessage> messages)>& render,
    std::span<const std::string_view> thought_marks) {
  if (messages.empty() || messages.back().role != "assistant" || !messages.back().tool_calls.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "only an assistant's message without calls, at the end of the conversation, can be continued");
  }
  const std::string end = new_word(messages);
  std::vector<ChatMessage> marked(messages.begin(), messages.end());
  marked.back().content += end;
  TRY(ChatPrompt prompt, render(marked));
  const size_t at = prompt.text.rfind(end);
  if (at == std::string::npos) {
    return fail(ErrorCode::kNotSupported,
                "the model's chat template does not show the beginning of a reply, so it cannot be continued");
  }
  prompt.text.resize(at);
  unquote({at, std::string::npos}, prompt.quoted);
  unquote_marks(at - common_end(prompt.text, messages.back().content), thought_marks, prompt);
  return prompt;
}

}  // namespace tern
