// Finds control and user-defined tokens in raw text by their spelling.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tern/options.h"
#include "text/tokenizer/control_tokens.h"

namespace tern {

struct SpecialToken {
  std::string_view spelling;
  TokenId id = 0;
  bool control = false;
  uint8_t flags = 0;  // TokenFlag bits; kTokenNormalized has no effect here
};

class SpecialTokens {
 public:
  struct Match {
    size_t begin;
    size_t length;
    TokenId id;
  };

  SpecialTokens() = default;
  // The views must outlive this object. Empty spellings are ignored.
  explicit SpecialTokens(std::vector<SpecialToken> tokens);

  // Finds the leftmost token at or after `from`, the longest one if several begin there, with the white space that it
  // strips (not before `from`). Control tokens count as text where they are not recognized, and so do kTokenSingleWord
  // tokens next to a word character. As in Hugging Face's library, no token is found inside such text, unless only a
  // part of it is quoted.
  std::optional<Match> find(std::string_view text, size_t from, const ControlTokens& control) const;

  bool empty() const { return tokens_.empty(); }

 private:
  const SpecialToken* match_at(std::string_view text, size_t begin) const;

  std::vector<SpecialToken> tokens_;  // sorted by spelling
  std::array<bool, 256> starts_{};    // the first bytes of all tokens
};

}  // namespace tern
