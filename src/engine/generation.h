// One reply under way: a state machine over a sequence, one bounded piece of work a step.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/reply.h"
#include "engine/reply_hold.h"
#include "engine/sequence.h"
#include "engine/speculation.h"
#include "sample/sampler.h"
#include "tern/engine.h"

namespace tern {

// kInvalidArgument: ids outside the vocabulary.
Result<void> check_ids(std::span<const TokenId> tokens, int n_vocab);

// kInvalidArgument: empty, ids outside the vocabulary, longer than the context.
Result<void> check_prompt(std::span<const TokenId> prompt, int n_vocab, int n_ctx);

// kNotSupported: a grammar for a model without a tokenizer; kInvalidArgument: two of them.
Result<void> check_grammar(const GenerateOptions& options, const Tokenizer* tokenizer);

// That a stream gives at most: memory for all of them is taken when it starts.
inline constexpr int kStreamTokens = 256;

// Owns all that belongs to the reply and not to the conversation: the rest of the prompt, the sampler, the text, the
// device's token stream where it has one to itself. Whatever ends it also drops its stream, and it knows its sequence
// no longer.
//
// Of the tokens that are known (the prompt's and those chosen) the sequence has run a beginning. A pass runs some of
// the rest, and chooses the next token where it reaches their end. So whatever the sequence forgets is run again.
class Generation::Impl {
 public:
  // Prompt and options have been checked; what `options` leaves open is Tern's own. `active` is where the session keeps
  // its generation under way; it is set to this one until it ends. `tokenizer` may be null: then no text is made. All
  // must outlive the generation, or its end.
  // Guesses come from shared.drafter, or from the text itself where it is null.
  struct Shared {
    PassTimes& times;
    GrammarCache& grammars;
    Drafter* drafter = nullptr;
  };
  Impl(Sequence& sequence, Impl*& active, const Tokenizer* tokenizer, int n_vocab, std::span<const TokenId> prompt,
       const GenerateOptions& options, const Shared& shared);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { detach(); }

  // See Generation in include/tern/engine.h.
  Result<GenerationStep> next();
  void cancel();
  bool done() const { return active_ == nullptr; }
  const GenerateResult& result() const { return reply_.result; }
  void set_load_seconds(double seconds) { reply_.result.stats.load_seconds = seconds; }

  // For who runs several generations in one batch: the next pass's slice, of at most plan.most_tokens tokens, valid
  // until take(); what came of it, [rows, n_vocab]; and whether next() has something to tell without running anything.
  // An error ends the generation when next() tells of it. Guesses are added to the plan.
  Result<Slice> next_slice(PassPlan& plan);
  Result<void> take(std::span<const float> rows);
  bool has_news() const { return done() || failure_ || is_over_ || n_untold_ > 0 || n_to_run() == 0; }
  void fail_with(Error error) { failure_ = std::move(error); }

  // For who has the device choose the tokens of several: whether it may choose this one's next, and how many at most;
  // how; the slice that a stream of n_tokens starts with; and each token that came of it. Random numbers that were
  // drawn ahead of the tokens taken come again after leave_stream().
  bool may_stream() const;
  int n_may_stream() const;
  DeviceSampling device_sampling();
  Result<Slice> start_of_stream(int n_tokens) { return sequence_.start_of_stream(last_known(), n_tokens); }
  void take_streamed(TokenId token);
  void leave_stream();
  // How many tokens have to be run before one is chosen.
  size_t n_to_run() const { return known_.size() - static_cast<size_t>(sequence_.n_used()); }
  // Whether the next slice may have guesses.
  bool may_speculate() const;
  Sequence& sequence() { return sequence_; }

 private:
  Result<void> run_alone();
  Result<Slice> slice_with_drafts(PassPlan& plan);
  Result<void> take_drafts(std::span<const float> rows);
  Result<void> take_from_stream();
  // Whether the next pass chooses one token after another.
  bool writes() const { return n_to_run() == 1 && !result().tokens.empty(); }
  bool device_may_choose() const { return !is_held() && !sampler_.adjusts_logits() && options_.n_logprobs < 0; }
  bool is_held() const { return hold_ && hold_->holds(); }
  std::span<const TokenId> last_known() const { return std::span(known_).last(1); }
  void drop_stream();
  void take_back_draws();  // of tokens that a stream did not give
  void heal(std::span<const float> logits);
  Result<void> choose(std::span<const float> logits);
  Result<TokenId> choose_among_allowed(std::span<const float> logits);
  int n_best() const;
  Result<void> start_stream();
  std::optional<FinishReason> reason_to_end(std::optional<TokenId> token);
  void take_reply_so_far();

  void shift_context();
  void end(FinishReason reason);
  void detach();
  std::string_view untold_text();

  Sequence& sequence_;  // not after the end
  Impl** active_;       // null after the end
  const GenerateOptions options_;
  const Tokenizer* tokenizer_;
  std::vector<TokenId> known_;
  std::vector<TokenId> to_heal_;  // the prompt's last tokens, which are yet to be chosen again
  std::span<const TokenId> running_;
  LookupDrafter lookup_;
  Drafter& drafter_;
  PassTimes& times_;
  SpeculationPace pace_;
  Draft draft_;                       // of which the first n_drafts_ are run
  std::vector<TokenId> with_drafts_;  // the pass's tokens
  size_t n_drafts_ = 0;
  bool has_drafts_ = false;  // whether the slice was made with room for guesses
  size_t n_untold_ = 0;      // of the known, at their end
  Sampler sampler_;
  Reply reply_;
  std::unique_ptr<ReplyHold> hold_;  // null: the reply is free
  grammar::TokenMask allowed_;       // the next token, with stop tokens
  std::unique_ptr<TokenStream> stream_;
  bool asked_for_stream_ = false;
  int n_to_stream_ = 0;                  // tokens that the stream has yet to give
  uint64_t n_drawn_ahead_ = 0;           // random numbers that a stream took for tokens that have not been taken
  std::optional<FinishReason> is_over_;  // with GenerateOptions::reply_so_far; to be told
  std::optional<Error> failure_;         // likewise
  std::optional<Error> error_;           // that ended it
  size_t n_told_ = 0;                    // bytes of the text that steps have told
};

}  // namespace tern
