// Finds control and user-defined tokens, spelled as they are, in raw text.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tern/options.h"

namespace tern {

class SpecialTokens {
 public:
  struct Match {
    size_t begin;
    size_t length;
    TokenId id;
  };

  SpecialTokens() = default;
  // The views must outlive this object. Empty spellings are ignored.
  explicit SpecialTokens(std::vector<std::pair<std::string_view, TokenId>> tokens);

  // The leftmost token at or after `from`, and the longest of those that begin there.
  std::optional<Match> find(std::string_view text, size_t from) const;

 private:
  std::optional<Match> match_at(std::string_view text, size_t begin) const;

  std::vector<std::pair<std::string_view, TokenId>> tokens_;  // sorted by spelling
  std::array<bool, 256> starts_{};                            // the first bytes that occur
};

}  // namespace tern
