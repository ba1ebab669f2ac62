// Follows a model's thoughts in its reply, and ends them when they are long enough.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/reply/token_constraint.h"
#include "tern/options.h"
#include "tern/tokenizer.h"

namespace tern {

// Says which tokens of a reply belong to thoughts.
class ThoughtTracker {
 public:
  explicit ThoughtTracker(const ThoughtLimit& marks)
      : begin_(marks.begin), end_(marks.end), is_inside_(marks.in_thought && !marks.end.empty()) {}

  // Takes the text of the next token, control tokens included. True if the token belongs to a thought, as its marks do.
  bool feed(std::string_view piece);
  bool is_inside() const { return is_inside_; }
  bool is_between_characters() const { return n_missing_ == 0; }  // no UTF-8 character is begun

 private:
  const std::string begin_, end_;
  bool is_inside_;
  std::string tail_;  // the latest text, which may be the beginning of a mark
  int n_missing_ = 0;
};

// `inner` (null: none), and a limit for thoughts: when `limit.tokens` tokens of them are chosen, those of the end mark
// follow. They wait where `inner` does not allow them, and inside a character. `waits`: if the reply begins inside a
// thought, `inner` is about the text behind it.
std::unique_ptr<TokenConstraint> limit_thoughts(const ThoughtLimit& limit, const Tokenizer& tokenizer, int n_vocab,
                                                std::unique_ptr<TokenConstraint> inner, bool waits);

}  // namespace tern
