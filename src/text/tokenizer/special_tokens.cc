#include "text/tokenizer/special_tokens.h"

#include <algorithm>

#include "text/tokenizer/vocab.h"
#include "text/unicode/character_class.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

// The length of the last character of `text` if it has the property, else 0. Invalid bytes have no property.
template <class Property>
size_t last_character_with(std::string_view text, Property property) {
  if (text.empty()) return 0;
  size_t length = 1;
  while (length < 4 && length < text.size() && (static_cast<uint8_t>(text[text.size() - length]) & 0xC0) == 0x80)
    ++length;
  const Utf8Char c = decode_utf8(text.substr(text.size() - length));
  return c.status == Utf8Status::kValid && c.length == length && property(c.code) ? length : 0;
}

template <class Property>
size_t first_character_with(std::string_view text, Property property) {
  if (text.empty()) return 0;
  const Utf8Char c = decode_utf8(text);
  return c.status == Utf8Status::kValid && property(c.code) ? c.length : 0;
}

}  // namespace

SpecialTokens::SpecialTokens(std::vector<SpecialToken> tokens) : tokens_(std::move(tokens)) {
  std::erase_if(tokens_, [](const SpecialToken& token) { return token.spelling.empty(); });
  std::ranges::sort(tokens_, {}, &SpecialToken::spelling);
  for (const SpecialToken& token : tokens_) starts_[static_cast<uint8_t>(token.spelling[0])] = true;
}

std::optional<SpecialTokens::Match> SpecialTokens::find(std::string_view text, size_t from,
                                                        const ControlTokens& control) const {
  if (tokens_.empty()) return std::nullopt;
  for (size_t at = from; at < text.size(); ++at) {
    if (!starts_[static_cast<uint8_t>(text[at])]) continue;
    const SpecialToken* token = match_at(text, at);
    if (!token) continue;
    size_t begin = at;
    size_t end = at + token->spelling.size();
    const bool alone = !last_character_with(text.substr(0, begin), is_word_character) &&
                       !first_character_with(text.substr(end), is_word_character);
    if ((token->control && !control.are_in(begin, end)) || (token->flags & kTokenSingleWord && !alone)) {
      // A quoted text that ends like the beginning of a mark must not hide the mark behind it.
      if (!control.parse || control.is_within_quotes(begin, end)) at = end - 1;
      continue;
    }
    if (token->flags & kTokenLstrip) {
      while (const size_t n = last_character_with(text.substr(from, begin - from), is_white_space)) begin -= n;
    }
    if (token->flags & kTokenRstrip) {
      while (const size_t n = first_character_with(text.substr(end), is_white_space)) end += n;
    }
    return Match{begin, end - begin, token->id};
  }
  return std::nullopt;
}

// Narrows the sorted list byte by byte. The remaining tokens always match the text so far, and a token that ends here
// is sorted before longer ones.
const SpecialToken* SpecialTokens::match_at(std::string_view text, size_t begin) const {
  const SpecialToken* longest = nullptr;
  auto first = tokens_.begin();
  auto last = tokens_.end();
  for (size_t depth = 0; begin + depth < text.size(); ++depth) {
    const auto wanted = static_cast<uint8_t>(text[begin + depth]);
    const auto byte_at_depth = [&](const SpecialToken& token) { return static_cast<uint8_t>(token.spelling[depth]); };
    const auto range = std::ranges::equal_range(first, last, wanted, {}, byte_at_depth);
    first = range.begin();
    last = range.end();
    if (first == last) break;
    if (first->spelling.size() == depth + 1) {
      longest = &*first;
      if (++first == last) break;
    }
  }
  return longest;
}

}  // namespace tern
