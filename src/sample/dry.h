// DRY ("don't repeat yourself"): lowers the logits of tokens that would extend a repetition. The idea and its options
// are p-e-w's, https://github.com/oobabooga/text-generation-webui/pull/5677.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tern/options.h"

namespace tern {

// A token's text, of control tokens too.
using PieceOf = std::function<std::string_view(TokenId)>;

// Finds certain short texts in a text that comes token by token.
class SequenceBreakers {
 public:
  // Without `piece_of` there is no text, and nothing is found.
  SequenceBreakers(std::vector<std::string> texts, PieceOf piece_of);

  // Adds a token; returns true if one of the texts ends in it.
  bool add(TokenId token);
  // True if the token alone has one of the texts.
  bool are_in(TokenId token) const;
  void forget() { tail_.clear(); }

 private:
  std::vector<std::string> texts_;  // none is empty
  PieceOf piece_of_;
  size_t longest_ = 0;
  std::string tail_;  // the last bytes, in which a text may have begun
};

// Remembers all tokens, and compares the last `dry_penalty_last_n` of them. A token that would extend a repetition of n
// tokens, the longest one, is penalized by multiplier · base^(n − allowed_length) if n is at least allowed_length.
// Repetitions do not reach across a breaker, and a token with a breaker in it is never penalized.
class DryPenalty {
 public:
  // The options of `sampling` must have been checked.
  DryPenalty(const Sampling& sampling, int n_vocab, PieceOf piece_of);

  void add(TokenId token);
  void forget();

  // Finds the repetitions at the end of the tokens; before that, nothing is penalized.
  void update();
  std::span<const TokenId> penalized() const { return penalized_; }
  float penalty(TokenId token) const { return lengths_[token] < 0 ? 0 : penalty_of_length(lengths_[token]); }

 private:
  float penalty_of_length(int32_t length) const;
  void compare(std::span<const TokenId> window);

  float multiplier_, base_;
  int32_t allowed_length_;
  int last_n_;
  SequenceBreakers breakers_;
  std::vector<TokenId> tokens_;
  size_t n_unbroken_ = 0;           // tokens after the last breaker
  std::vector<int32_t> matches_;    // for each place of the window, counted from its end: see compare()
  std::vector<int32_t> lengths_;    // [n_vocab] the longest repetition that a token would extend; −1: none
  std::vector<TokenId> penalized_;  // the tokens with a length
  bool is_current_ = true;          // nothing has changed since the last update()
};

}  // namespace tern
