// A conversation that may be shortened until it fits into the context.
#pragma once

#include <algorithm>
#include <vector>

#include "server/api/replies/conversation.h"

namespace tern::server {

// Makes the prompt. If it is too long and may be shortened, the first questions and their answers are left out, as few
// as possible, such that a quarter of the context remains for the reply.
class FittingPrompt {
 public:
  FittingPrompt(const std::vector<ChatMessage>& messages, const ChatOptions& chat, const ToolUse& use,
                const ModelProfile& model, GenerateOptions& generate)
      : messages_(messages), chat_(chat), use_(use), model_(model), generate_(generate), base_(generate) {}

  ApiResult<ConversationPrompt> make(bool may_shorten) {
    const auto is_system = [](const ChatMessage& m) { return m.role == "system" || m.role == "developer"; };
    head_ = static_cast<size_t>(std::ranges::find_if_not(messages_, is_system) - messages_.begin());
    TRY(ConversationPrompt prompt, make_from(head_));
    const auto most = static_cast<size_t>(model_.n_ctx - model_.n_ctx / 4);
    if (!may_shorten || prompt.tokens.size() <= static_cast<size_t>(model_.n_ctx)) return prompt;
    std::vector<size_t> starts;
    for (size_t i = head_ + 1; i < messages_.size(); ++i) {
      if (messages_[i].role == "user") starts.push_back(i);
    }
    size_t begin = 0, end = starts.size();  // the shortest prompt that is known to fit, or none, is at `end`
    while (begin < end) {
      const size_t middle = (begin + end) / 2;
      TRY(const ConversationPrompt shorter, make_from(starts[middle]));
      if (shorter.tokens.size() <= most) {
        end = middle;
      } else {
        begin = middle + 1;
      }
    }
    if (starts.empty()) return prompt;
    return make_from(starts[std::min(end, starts.size() - 1)]);
  }

 private:
  ApiResult<ConversationPrompt> make_from(size_t first) {
    std::vector<ChatMessage> some(messages_.begin(), messages_.begin() + static_cast<ptrdiff_t>(head_));
    some.insert(some.end(), messages_.begin() + static_cast<ptrdiff_t>(first), messages_.end());
    generate_ = base_;
    return make_prompt(some, "input", chat_, use_, model_, generate_);
  }

  const std::vector<ChatMessage>& messages_;
  const ChatOptions& chat_;
  const ToolUse& use_;
  const ModelProfile& model_;
  GenerateOptions& generate_;
  const GenerateOptions base_;
  size_t head_ = 0;  // messages that stay
};

}  // namespace tern::server
