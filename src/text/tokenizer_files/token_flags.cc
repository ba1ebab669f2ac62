#include "text/tokenizer_files/token_flags.h"

#include "text/tokenizer/vocab.h"

namespace tern {

Result<uint8_t> read_token_flags(const Json& token, std::string_view path) {
  constexpr std::pair<const char*, TokenFlag> kNames[] = {{"lstrip", kTokenLstrip},
                                                          {"rstrip", kTokenRstrip},
                                                          {"single_word", kTokenSingleWord},
                                                          {"normalized", kTokenNormalized}};
  uint8_t flags = 0;
  for (const auto& [name, bit] : kNames) {
    TRY(const bool set, bool_or(token, name, false, path));
    if (set) flags |= bit;
  }
  return flags;
}

}  // namespace tern
