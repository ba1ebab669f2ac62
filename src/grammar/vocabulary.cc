#include "grammar/vocabulary.h"

#include <algorithm>
#include <numeric>

#include "grammar/rules/utf8_chars.h"

namespace tern::grammar {
namespace {

// Longer tokens are left out. No vocabulary has any, and a depth has 16 bits.
constexpr size_t kMaxTokenBytes = 60'000;

// The number of characters of a plain token; 0 for any other.
size_t plain_length(std::string_view bytes) {
  size_t n = 0;
  for (; !bytes.empty(); ++n) {
    const auto c = take_char(bytes);
    if (!c || !is_plain(*c)) return 0;
  }
  return n;
}

// Where the last run of plain characters begins, up to the token's end.
size_t plain_tail(std::string_view bytes) {
  size_t begin = 0;
  for (size_t at = 0; at < bytes.size();) {
    std::string_view rest = bytes.substr(at);
    const auto c = take_char(rest);
    at = c ? bytes.size() - rest.size() : at + 1;
    if (!c || !is_plain(*c)) begin = at;
  }
  return begin;
}

bool is_inside_character(std::string_view bytes, size_t at) {
  return at < bytes.size() && (static_cast<uint8_t>(bytes[at]) & 0xC0) == 0x80;
}

}  // namespace

bool is_plain(char32_t c) { return c >= 0x20 && c != '"' && c != '\\' && c != 0x7F; }

Vocabulary::Vocabulary(const Tokenizer& tokenizer, int n_vocab, std::span<const TokenId> shown)
    : n_words_((static_cast<size_t>(n_vocab) + 63) / 64), ends_(1), plain_(kMaxPlain + 1, TokenMask(n_words_)) {
  const TokenId n = std::min(n_vocab, tokenizer.vocab_size());
  std::vector<TokenId> all, special;
  for (TokenId id = 0; id < n_vocab; ++id) {
    if (id < n) bytes_ += tokenizer.piece(id, std::ranges::contains(shown, id));
    ends_.push_back(bytes_.size());
    const std::string_view own = bytes(id);
    if (own.empty() || own.size() > kMaxTokenBytes) continue;
    all.push_back(id);
    const size_t length = plain_length(own);
    if (length == 0 || length > kMaxPlain) {
      special.push_back(id);
    } else {
      for (size_t i = length; i <= kMaxPlain; ++i) put_in(plain_[i], id);
    }
  }
  all_ = tree_of(std::move(all));
  special_ = tree_of(std::move(special));
}

TokenTree Vocabulary::tree_of(std::vector<TokenId> tokens) const {
  TokenTree tree;
  std::ranges::sort(tokens, [this](TokenId a, TokenId b) { return std::pair(bytes(a), a) < std::pair(bytes(b), b); });
  std::vector<uint32_t> open;  // nodes from the root to the last token's node
  std::string_view last;
  const auto close_to = [&](size_t depth) {
    for (; open.size() > depth; open.pop_back())
      tree.nodes[open.back()].after = static_cast<uint32_t>(tree.nodes.size());
  };
  for (const TokenId token : tokens) {
    const std::string_view own = bytes(token);
    const auto [mine, its] = std::ranges::mismatch(own, last);
    close_to(static_cast<size_t>(mine - own.begin()));
    while (open.size() < own.size()) {
      const auto byte = static_cast<uint8_t>(own[open.size()]);
      open.push_back(static_cast<uint32_t>(tree.nodes.size()));
      tree.nodes.push_back({.after = 0,
                            .first_token = static_cast<uint32_t>(tree.tokens.size()),
                            .depth = static_cast<uint16_t>(open.size()),
                            .byte = byte,
                            .is_plain = true});
    }
    const size_t tail = plain_tail(own);
    for (size_t depth = 1; depth <= own.size(); ++depth) {
      if (depth < tail || is_inside_character(own, depth)) tree.nodes[open[depth - 1]].is_plain = false;
    }
    tree.tokens.push_back(token);
    tree.max_depth = std::max(tree.max_depth, own.size());
    last = own;
  }
  close_to(0);
  tree.nodes.push_back(
      {.after = 0, .first_token = static_cast<uint32_t>(tree.tokens.size()), .depth = 0, .byte = 0, .is_plain = false});
  return tree;
}

}  // namespace tern::grammar
