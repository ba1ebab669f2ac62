#include "engine/reply/token_constraint.h"

#include <algorithm>
#include <optional>
#include <string>

#include "tern/chat_reply.h"

namespace tern {
namespace {

// Constrains the whole reply by a grammar.
class GrammarConstraint final : public TokenConstraint {
 public:
  explicit GrammarConstraint(const GrammarMatcher& matcher) : matcher_(matcher) {}

  bool is_active() const override { return true; }
  Result<GrammarMatcher::Allowed> allowed() const override { return matcher_.allowed(); }
  bool accept(TokenId token) override { return matcher_.accept(token); }
  bool is_complete() const override { return matcher_.is_complete(); }

 private:
  GrammarMatcher matcher_;
};

// Constrains a tool call from its mark to its end, which ChatReplyParser finds. The mark's last token may contain more
// text; if the grammar does not allow it, the call is not constrained, and a parser with the same grammar does not
// accept it as a call.
class ToolCallConstraint final : public TokenConstraint {
 public:
  // `fresh`: a matcher at the beginning of a call.
  ToolCallConstraint(const ConstrainedCalls& calls, const Tokenizer& tokenizer, const GrammarMatcher& fresh)
      : shown_(calls.format.shown_tokens),
        only_one_(calls.only_one),
        tokenizer_(tokenizer),
        parser_(calls.format, calls.reply),
        fresh_(fresh) {}

  bool is_active() const override { return matcher_.has_value(); }
  Result<GrammarMatcher::Allowed> allowed() const override { return matcher_->allowed(); }

  bool accept(TokenId token) override {
    if (matcher_ && !matcher_->accept(token)) return false;
    parser_.feed(tokenizer_.piece(token, std::ranges::contains(shown_, token)));
    const std::optional<std::string> begun = parser_.partial_call();
    if (!matcher_ && begun && !has_begun_) {
      matcher_.emplace(fresh_);
      if (!matcher_->accept(*begun)) matcher_.reset();
    }
    has_begun_ = begun.has_value();
    if (matcher_ && matcher_->is_complete()) {
      matcher_.reset();
      is_over_ = only_one_;
    }
    return true;
  }

  bool is_complete() const override { return is_over_; }

 private:
  const std::vector<TokenId> shown_;
  const bool only_one_;
  const Tokenizer& tokenizer_;
  ChatReplyParser parser_;
  const GrammarMatcher fresh_;
  std::optional<GrammarMatcher> matcher_;
  bool has_begun_ = false;
  bool is_over_ = false;
};

}  // namespace

std::unique_ptr<TokenConstraint> make_constraint(const GenerateOptions& options, GrammarCache& grammars,
                                                 const Tokenizer* tokenizer, int n_vocab, bool strips_space) {
  if (options.grammar) {
    return std::make_unique<GrammarConstraint>(
        grammars.matcher(options.grammar, *tokenizer, n_vocab, strips_space, options.shown_tokens));
  }
  if (!options.calls) return nullptr;
  const ConstrainedCalls& calls = *options.calls;
  return std::make_unique<ToolCallConstraint>(
      calls, *tokenizer,
      grammars.matcher(calls.reply.grammar, *tokenizer, n_vocab, /*strips_space=*/false, calls.format.shown_tokens));
}

}  // namespace tern
