// A reply with thoughts and calls of tools while it arrives: what of it is shown, and the message that it becomes.
#pragma once

#include <string>
#include <string_view>

#include "tern/chat_reply.h"

namespace tern::cli {

class ReplyView {
 public:
  explicit ReplyView(const ChatTurn& turn) : parser_(turn.format, turn.reply) {}

  // Text to show for a piece of the reply; is_last: the reply has ended with this.
  std::string take(std::string_view piece, bool is_last) {
    std::vector<ChatDelta> deltas = parser_.feed(piece);
    if (is_last) {
      std::vector<ChatDelta> rest = parser_.finish();
      deltas.insert(deltas.end(), rest.begin(), rest.end());
    }
    append(message_, deltas);
    std::string shown;
    for (const ChatDelta& delta : deltas) {
      const bool is_thought = delta.kind == ChatDelta::Kind::kReasoning;
      if (!is_thought && delta.kind != ChatDelta::Kind::kContent) continue;
      if (!is_thought && was_thought_) shown += "\n\n";
      was_thought_ = is_thought;
      shown += delta.text;
    }
    return shown;
  }

  const ChatMessage& message() const { return message_; }

 private:
  ChatReplyParser parser_;
  ChatMessage message_ = {.role = "assistant"};
  bool was_thought_ = false;
};

}  // namespace tern::cli
