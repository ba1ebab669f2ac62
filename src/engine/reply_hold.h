// Where a reply may not say just anything: which tokens it may go on with.
#pragma once

#include <memory>

#include "grammar/matcher.h"
#include "tern/options.h"
#include "tern/tokenizer.h"

namespace tern {

class ReplyHold {
 public:
  ReplyHold() = default;
  ReplyHold(const ReplyHold&) = delete;
  ReplyHold& operator=(const ReplyHold&) = delete;
  virtual ~ReplyHold() = default;

  // Whether the next token is to be chosen among those that are allowed.
  virtual bool holds() const = 0;
  // kNotSupported: the text so far can be read in too many ways.
  virtual Result<GrammarMatcher::Allowed> allowed() const = 0;
  // Takes each token of the reply; false, without taking it, where it is not allowed.
  virtual bool accept(TokenId token) = 0;
  // Whether the reply is over.
  virtual bool is_complete() const = 0;
};

// What GenerateOptions ask for; null: nothing. `strips_space`: of the reply's first token with text.
std::unique_ptr<ReplyHold> make_hold(const GenerateOptions& options, GrammarCache& grammars, const Tokenizer* tokenizer,
                                     int n_vocab, bool strips_space);

}  // namespace tern
