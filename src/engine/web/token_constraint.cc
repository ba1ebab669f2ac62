// In a browser tab, constraints are in a separate module (forms.cc), which is downloaded on first use;
// token_constraint.js calls it, and a page's own processor of logits. Here, options.calls only marks such a reply and
// has no content.
#include "engine/reply/token_constraint.h"

extern "C" {
int tern_constraint_start(int strips_space);
int tern_constraint_accept(int token);
int tern_constraint_allowed(uint64_t* words, size_t n_words);
int tern_constraint_logits(float* logits, size_t n);
}

namespace tern {
namespace {

class ScriptConstraint final : public TokenConstraint {
 public:
  ScriptConstraint(int n_vocab, bool strips_space)
      : n_words_((static_cast<size_t>(n_vocab) + 63) / 64), flags_(tern_constraint_start(strips_space ? 1 : 0)) {}

  bool is_active() const override { return (flags_ & 2) != 0; }
  bool is_complete() const override { return (flags_ & 4) != 0; }
  bool accept(TokenId token) override {
    flags_ = tern_constraint_accept(token);
    return (flags_ & 1) != 0;
  }
  Result<GrammarMatcher::Allowed> allowed() const override {
    auto mask = std::make_shared<grammar::TokenMask>(n_words_);
    const int flags = tern_constraint_allowed(mask->data(), n_words_);
    if ((flags & 1) == 0) {
      return fail(ErrorCode::kNotSupported,
                  "the grammar can read the reply so far in too many ways at once; make it less ambiguous");
    }
    return GrammarMatcher::Allowed{.tokens = std::move(mask), .end = (flags & 2) != 0, .any = (flags & 4) != 0};
  }
  bool changes_logits() const override { return (flags_ & 8) != 0; }
  Result<void> change_logits(std::span<float> logits) override {
    if (tern_constraint_logits(logits.data(), logits.size()) != 0) return {};
    return fail(ErrorCode::kInvalidArgument, "the logit processor has failed");  // the script knows why
  }

 private:
  size_t n_words_;
  int flags_;
};

}  // namespace

std::unique_ptr<TokenConstraint> make_constraint(const GenerateOptions& options, GrammarCache&, const Tokenizer*,
                                                 int n_vocab, bool strips_space) {
  if (!options.calls) return nullptr;
  return std::make_unique<ScriptConstraint>(n_vocab, strips_space);
}

}  // namespace tern
