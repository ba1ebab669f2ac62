// Constrains a reply: decides which tokens it may continue with, and may change their logits first.
#pragma once

#include <memory>
#include <span>

#include "grammar/matcher.h"
#include "tern/options.h"
#include "tern/tokenizer.h"

namespace tern {

class TokenConstraint {
 public:
  TokenConstraint() = default;
  TokenConstraint(const TokenConstraint&) = delete;
  TokenConstraint& operator=(const TokenConstraint&) = delete;
  virtual ~TokenConstraint() = default;

  // True if the next token must be one of the allowed ones.
  virtual bool is_active() const = 0;
  // kNotSupported: there are too many ways to parse the text so far.
  virtual Result<GrammarMatcher::Allowed> allowed() const = 0;
  // Takes each token of the reply; returns false, without taking it, if it is not allowed.
  virtual bool accept(TokenId token) = 0;
  // True if the reply is over.
  virtual bool is_complete() const = 0;
  // True if change_logits() has to see the logits before each choice, those of all tokens.
  virtual bool changes_logits() const { return false; }
  virtual Result<void> change_logits(std::span<float>) { return {}; }
};

// The constraint for these options; null: none. `strips_space`: the first token with text loses its leading space.
std::unique_ptr<TokenConstraint> make_constraint(const GenerateOptions& options, GrammarCache& grammars,
                                                 const Tokenizer* tokenizer, int n_vocab, bool strips_space);

}  // namespace tern
