#include "text/chat/turn_tokenizer.h"

#include <algorithm>

#include "text/tokenizer_files/stop_tokens.h"

namespace tern {
namespace {

// What a template writes between a reply and the next question; empty: it cannot be determined.
std::string after_reply(const ChatTemplate& chat_template) {
  constexpr std::string_view kReply = "tern-reply";
  // The following question keeps templates from ending the text in a special way.
  const ChatMessage messages[] = {{"user", "a"}, {"assistant", std::string(kReply)}, {"user", "b"}};
  const auto prompt = chat_template.render(messages, {.add_generation_prompt = false});
  const size_t at = prompt ? prompt->text.rfind(kReply) : std::string::npos;
  if (at == std::string::npos) return {};
  const size_t end = prompt->text.find_first_not_of(" \n", at + kReply.size());
  return end == std::string::npos ? std::string() : prompt->text.substr(end);
}

}  // namespace

TurnTokenizer::TurnTokenizer(std::unique_ptr<Tokenizer> inner, const Vocab& vocab)
    : inner_(std::move(inner)), stop_tokens_(&inner_->stop_tokens()) {
  if (replies_are_messages(vocab)) return;
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    const TokenType type = vocab.type(i);
    if (type != TokenType::kControl && type != TokenType::kUserDefined) continue;
    special_.emplace_back(static_cast<TokenId>(i), vocab.tokens[i]);
  }
}

void TurnTokenizer::learn(const ChatTemplate& chat_template) {
  std::call_once(once_, [&] {
    const std::string after = after_reply(chat_template);
    const std::pair<TokenId, std::string>* longest = nullptr;
    for (const auto& token : special_) {
      const size_t length = longest == nullptr ? 0 : longest->second.size();
      if (token.second.size() > length && after.starts_with(token.second)) longest = &token;
    }
    if (longest == nullptr || std::ranges::contains(inner_->stop_tokens(), longest->first)) return;
    learned_ = inner_->stop_tokens();
    learned_.insert(std::ranges::lower_bound(learned_, longest->first), longest->first);
    stop_tokens_.store(&learned_, std::memory_order_release);
  });
}

}  // namespace tern
