#include "tern/tokenizer.h"

namespace tern {

std::string Tokenizer::decode(const std::vector<TokenId>& ids, bool special) const {
  std::string text;
  for (const TokenId id : ids) text += piece(id, special);
  if (strips_leading_space() && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

}  // namespace tern
