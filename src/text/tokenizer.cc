#include "tern/tokenizer.h"

namespace tern {

std::string Tokenizer::decode(const std::vector<TokenId>& ids, bool special) const {
  std::string text;
  for (const TokenId id : ids) text += piece(id, special);
  return text;
}

}  // namespace tern
