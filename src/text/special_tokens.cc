#include "text/special_tokens.h"

#include <algorithm>

namespace tern {

SpecialTokens::SpecialTokens(std::vector<std::pair<std::string_view, TokenId>> tokens) : tokens_(std::move(tokens)) {
  std::erase_if(tokens_, [](const auto& token) { return token.first.empty(); });
  std::ranges::sort(tokens_);
  for (const auto& [spelling, id] : tokens_) starts_[static_cast<uint8_t>(spelling[0])] = true;
}

std::optional<SpecialTokens::Match> SpecialTokens::find(std::string_view text, size_t from) const {
  if (tokens_.empty()) return std::nullopt;
  for (size_t at = from; at < text.size(); ++at) {
    if (!starts_[static_cast<uint8_t>(text[at])]) continue;
    if (const auto match = match_at(text, at)) return match;
  }
  return std::nullopt;
}

// Narrows the sorted list one byte at a time. What is left always agrees with the text so far, and a token that ends
// here sorts before those that go on.
std::optional<SpecialTokens::Match> SpecialTokens::match_at(std::string_view text, size_t begin) const {
  std::optional<Match> longest;
  auto first = tokens_.begin();
  auto last = tokens_.end();
  for (size_t depth = 0; begin + depth < text.size(); ++depth) {
    const auto wanted = static_cast<uint8_t>(text[begin + depth]);
    const auto byte_at_depth = [&](const auto& token) { return static_cast<uint8_t>(token.first[depth]); };
    const auto range = std::ranges::equal_range(first, last, wanted, {}, byte_at_depth);
    first = range.begin();
    last = range.end();
    if (first == last) break;
    if (first->first.size() == depth + 1) {
      longest = {begin, depth + 1, first->second};
      if (++first == last) break;
    }
  }
  return longest;
}

}  // namespace tern
