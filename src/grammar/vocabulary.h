// The bytes of all tokens, arranged for finding those that may come next.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tern/tokenizer.h"

namespace tern::grammar {

// One bit for each token, the lowest of the first word for token 0.
using TokenMask = std::vector<uint64_t>;

inline bool is_in(const TokenMask& mask, TokenId token) {
  return (mask[static_cast<size_t>(token) / 64] >> (static_cast<size_t>(token) % 64)) & 1;
}
inline void put_in(TokenMask& mask, TokenId token) {
  mask[static_cast<size_t>(token) / 64] |= uint64_t{1} << (static_cast<size_t>(token) % 64);
}

// Tokens as a tree by their bytes, its nodes in the order in which a walk meets them.
struct TokenTree {
  struct Node {
    uint32_t after;        // the node after all that begin with this one
    uint32_t first_token;  // of those that end here, in `tokens`; they end where the next node's begin
    uint16_t depth;        // from 1
    uint8_t byte;
  };
  std::vector<Node> nodes;  // and one more at the end
  std::vector<TokenId> tokens;
  size_t max_depth = 0;

  size_t size() const { return nodes.size() - 1; }
};

// Most tokens of most vocabularies are plain: whole characters, none of them a control character, a quotation mark or a
// backslash. Where any such character may come, as inside a string of JSON, it is known beforehand which of them may.
class Vocabulary {
 public:
  // Ids from the tokenizer's size to n_vocab are padding, and never allowed; nor are tokens without text, which control
  // tokens have only where they are `shown`.
  Vocabulary(const Tokenizer& tokenizer, int n_vocab, std::span<const TokenId> shown = {});

  static constexpr size_t kMaxPlain = 24;  // characters; longer tokens count as special

  size_t n_words() const { return n_words_; }
  std::string_view bytes(TokenId token) const {
    const auto id = static_cast<size_t>(token);
    return std::string_view(bytes_).substr(ends_[id], ends_[id + 1] - ends_[id]);
  }
  const TokenTree& all() const { return all_; }
  const TokenTree& special() const { return special_; }
  // Plain tokens of at most n characters (0 ≤ n ≤ kMaxPlain).
  const TokenMask& plain(size_t n) const { return plain_[n]; }

 private:
  TokenTree tree_of(std::vector<TokenId> tokens) const;

  size_t n_words_;
  std::string bytes_;
  std::vector<size_t> ends_;  // token i's bytes are bytes_[ends_[i], ends_[i + 1])
  TokenTree all_, special_;
  std::vector<TokenMask> plain_;
};

bool is_plain(char32_t c);

}  // namespace tern::grammar
