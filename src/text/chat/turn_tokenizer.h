// Learns the token that a chat template puts after a reply.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tern/tokenizer.h"
#include "text/chat/chat_template.h"
#include "text/tokenizer/vocab.h"

namespace tern {

// A tokenizer that can learn one more stop token: what ends a turn in the text that the model was trained on must end a
// reply. It learns when the first conversation is rendered, because the template does not run before that.
class TurnTokenizer final : public Tokenizer {
 public:
  // `vocab`: what `inner` was made from.
  TurnTokenizer(std::unique_ptr<Tokenizer> inner, const Vocab& vocab);

  // Renders a small conversation and takes the special token that follows the assistant's text. Learns nothing if none
  // follows, the template cannot be rendered, or a reply is several messages, each of which ends so. Only the first
  // call has an effect. Thread-safe.
  void learn(const ChatTemplate& chat_template);

  int vocab_size() const override { return inner_->vocab_size(); }
  std::vector<TokenId> encode(std::string_view text, const TokenizeOptions& options = {}) const override {
    return inner_->encode(text, options);
  }
  std::string_view piece(TokenId id, bool special = false) const override { return inner_->piece(id, special); }
  bool strips_leading_space() const override { return inner_->strips_leading_space(); }
  std::optional<TokenId> bos() const override { return inner_->bos(); }
  std::optional<TokenId> final_token() const override { return inner_->final_token(); }
  const std::vector<TokenId>& stop_tokens() const override { return *stop_tokens_.load(std::memory_order_acquire); }
  std::optional<TokenId> find(std::string_view token) const override { return inner_->find(token); }

 private:
  std::unique_ptr<Tokenizer> inner_;
  std::vector<std::pair<TokenId, std::string>> special_;  // control and user-defined tokens with their spellings
  std::once_flag once_;
  std::vector<TokenId> learned_;  // all stop tokens, if one more was learned
  std::atomic<const std::vector<TokenId>*> stop_tokens_;
};

}  // namespace tern
