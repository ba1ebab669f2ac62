#include "text/tokenizer_files/stop_tokens.h"

#include <algorithm>
#include <array>
#include <span>

#include "text/tokenizer/token_table.h"

namespace tern {
namespace {

constexpr std::string_view kEndOfTurn[] = {"<|endoftext|>", "<|end_of_text|>", "<|eot_id|>",
                                           "<|eom_id|>",    "<|im_end|>",      "<|end|>",
                                           "</s>",          "<|eot|>",         "<end_of_turn>"};

// A reply of gpt-oss is several messages. <|end|> only ends one of them, and one of these the whole reply.
constexpr std::string_view kEndOfMessages[] = {"<|endoftext|>", "<|return|>", "<|call|>"};

}  // namespace

bool replies_are_messages(const Vocab& vocab) {
  return std::ranges::all_of(std::array{"<|channel|>", "<|message|>", "<|return|>"}, [&](std::string_view spelling) {
    const TokenId id = find_special_token(vocab, spelling);
    return id != kNoToken && vocab.type(static_cast<size_t>(id)) == TokenType::kControl;
  });
}

bool ends_a_turn(std::string_view spelling) { return std::ranges::contains(kEndOfTurn, spelling); }

void add_stop_token(Vocab& vocab, TokenId id) {
  if (id < 0 || static_cast<size_t>(id) >= vocab.tokens.size()) return;
  const auto at = std::ranges::lower_bound(vocab.stop_tokens, id);
  if (at == vocab.stop_tokens.end() || *at != id) vocab.stop_tokens.insert(at, id);
}

TokenId find_special_token(const Vocab& vocab, std::string_view spelling) {
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    const TokenType type = vocab.type(i);
    if ((type == TokenType::kControl || type == TokenType::kUserDefined) && vocab.tokens[i] == spelling)
      return static_cast<TokenId>(i);
  }
  return kNoToken;
}

void add_known_stop_tokens(Vocab& vocab) {
  if (vocab.eos) add_stop_token(vocab, *vocab.eos);
  std::span<const std::string_view> known = kEndOfTurn;
  if (replies_are_messages(vocab)) known = kEndOfMessages;
  bool ends_with_end = false;
  TokenId assistant = kNoToken;
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    if (vocab.type(i) != TokenType::kControl) continue;
    const std::string_view spelling = vocab.tokens[i];
    if (std::ranges::contains(known, spelling)) add_stop_token(vocab, static_cast<TokenId>(i));
    if (spelling == "<|end|>") ends_with_end = true;
    if (spelling == "<|assistant|>") assistant = static_cast<TokenId>(i);
  }
  // Phi-3's generation_config.json stops where the model would begin another turn for itself.
  if (ends_with_end && assistant != kNoToken) add_stop_token(vocab, assistant);
}

}  // namespace tern
