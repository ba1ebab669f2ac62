// The bytes of all tokens, arranged for finding the tokens that may come next.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tern/tokenizer.h"

namespace tern::grammar {

// One bit per token; token 0 is the lowest bit of the first word.
using TokenMask = std::vector<uint64_t>;

inline bool is_in(const TokenMask& mask, TokenId token) {
  return (mask[static_cast<size_t>(token) / 64] >> (static_cast<size_t>(token) % 64)) & 1;
}
inline void put_in(TokenMask& mask, TokenId token) {
  mask[static_cast<size_t>(token) / 64] |= uint64_t{1} << (static_cast<size_t>(token) % 64);
}

// Tokens as a tree by their bytes, with nodes in preorder.
struct TokenTree {
  struct Node {
    uint32_t after;        // the next node that is not a descendant
    uint32_t first_token;  // in `tokens`, of those that end here, up to the next node's first
    uint16_t depth;        // from 1
    uint8_t byte;
    bool is_plain;  // tokens go on from here with plain characters only
  };
  std::vector<Node> nodes;  // plus one at the end
  std::vector<TokenId> tokens;
  size_t max_depth = 0;

  size_t size() const { return nodes.size() - 1; }
};

// Most tokens of most vocabularies are plain: whole characters other than control characters, quotation marks and
// backslashes. Where any such character may come, as inside a JSON string, the allowed plain tokens are known in
// advance.
class Vocabulary {
 public:
  // Ids from the tokenizer's size to n_vocab are padding and never allowed. Tokens without text are not allowed either;
  // control tokens have text only if they are in `shown`.
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
