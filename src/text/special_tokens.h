// Finds control and user-defined tokens, spelled as they are, in raw text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tern/options.h"

namespace tern {

struct SpecialToken {
  std::string_view spelling;
  TokenId id = 0;
  bool control = false;
  uint8_t flags = 0;  // TokenFlag bits; kTokenNormalized has no meaning here
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

  // The leftmost token at or after `from`, and the longest of those that begin there, with the white space that it
  // swallows (not before `from`). A control token is left in the text unless `parse_control`, and so is one that has to
  // stand alone and does not; as in Hugging Face's library nothing is found inside either.
  std::optional<Match> find(std::string_view text, size_t from, bool parse_control) const;

  bool empty() const { return tokens_.empty(); }

 private:
  const SpecialToken* match_at(std::string_view text, size_t begin) const;

  std::vector<SpecialToken> tokens_;  // sorted by spelling
  std::array<bool, 256> starts_{};    // the first bytes that occur
};

}  // namespace tern
