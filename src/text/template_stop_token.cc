#include "text/template_stop_token.h"

#include "text/stop_tokens.h"
#include "text/token_table.h"

namespace tern {

void add_template_stop_token(const ChatTemplate& chat_template, Vocab& vocab) {
  constexpr std::string_view kReply = "tern-reply";
  // The question after it keeps templates from ending the text in a way of their own.
  const ChatMessage messages[] = {{"user", "a"}, {"assistant", std::string(kReply)}, {"user", "b"}};
  const auto text = chat_template.render(messages, {.add_generation_prompt = false});
  if (!text) return;
  const size_t at = text->rfind(kReply);
  if (at == text->npos) return;
  std::string_view rest = std::string_view(*text).substr(at + kReply.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
  TokenId longest = kNoToken;
  size_t length = 0;
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    const TokenType type = vocab.type(i);
    if (type != TokenType::kControl && type != TokenType::kUserDefined) continue;
    if (vocab.tokens[i].size() <= length || !rest.starts_with(vocab.tokens[i])) continue;
    longest = static_cast<TokenId>(i);
    length = vocab.tokens[i].size();
  }
  if (longest != kNoToken) add_stop_token(vocab, longest);
}

}  // namespace tern
