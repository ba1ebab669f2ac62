// One reply in progress: a state machine over a sequence that does one bounded piece of work per step.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/kv/sequence.h"
#include "engine/reply/drafting.h"
#include "engine/reply/reply.h"
#include "engine/reply/token_constraint.h"
#include "sample/sampler.h"
#include "tern/engine.h"

namespace tern {

// Maximum tokens of a stream; memory for all of them is allocated when it starts.
inline constexpr int kStreamTokens = 256;

// Owns the state of the reply, as opposed to that of the conversation: the rest of the prompt, the sampler, the text,
// and the device's token stream if the reply has its own. Any end of the reply also drops the stream and the reference
// to the sequence.
//
// The sequence has run a prefix of the known tokens (the prompt and the tokens chosen so far). A pass runs some of the
// rest, and chooses the next token when it reaches the end. Tokens that the sequence forgets are therefore run again.
class Generation::Impl {
 public:
  // What the generations of a session or a scheduler share.
  struct Shared {
    PassTimes& times;
    GrammarCache& grammars;
    Drafter* drafter = nullptr;  // null: draft tokens come from the text itself
  };
  // `prompt` and `options` must have been checked; unset options get Tern's defaults. `active` is the session's pointer
  // to its generation in progress; it points here until the end. `tokenizer` may be null: then there is no text.
  // `prompt` and `options` are copied; all else must live until the end of the reply.
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

  // Used by the scheduler to run several generations in one batch. next_slice(): the slice for the next pass, of at
  // most plan.most_tokens tokens, valid until take(); adds its draft tokens to `plan`. take(): the resulting logits,
  // [rows, n_vocab]. has_event(): next() can return something without running anything. An error ends the generation
  // when next() returns it.
  Result<Slice> next_slice(PassPlan& plan);
  Result<void> take(std::span<const float> rows);
  bool has_event() const { return done() || end_.failure || end_.reason || n_unreported_ > 0 || n_pending() == 0; }
  void fail_with(Error error) { end_.failure = std::move(error); }

  // Used by the scheduler for device-side sampling of several replies: whether this reply qualifies, its token limit,
  // its sampling parameters, its slice for the start of a stream of n_tokens, and each token from the stream.
  // leave_stream() rewinds random numbers that were drawn for tokens not taken.
  bool may_stream() const;
  int n_may_stream() const;
  DeviceSampling device_sampling();
  Result<Slice> start_of_stream(int n_tokens) { return sequence_.start_of_stream(last_known(), n_tokens); }
  void take_streamed(TokenId token);
  void leave_stream();
  // Used by the scheduler for passes with prompts, after next_slice(): whether the device may choose the slice's token,
  // by device_sampling(); and, in place of take(), the token, or none if the slice has no logits, and its logits if it
  // has several tokens.
  bool may_be_chosen() const;
  Result<void> take_chosen(std::optional<TokenId> token, std::span<const float> logits);
  // The number of tokens to run before the next one can be chosen.
  size_t n_pending() const { return tokens_.size() - static_cast<size_t>(sequence_.n_used()); }
  // The same without those that run again after a check (Sequence::settle), whose number is n_again().
  size_t n_new() const { return n_pending() - n_again_; }
  size_t n_again() const { return n_again_; }
  // True if the next slice may have draft tokens.
  bool may_speculate() const;
  // Used by the scheduler before next_slice(), so that the drafters of several replies run together: see Drafting, and
  // Drafter::observe().
  size_t begin_draft(PassPlan plan);
  void end_draft(const Draft& draft, std::optional<double> seconds) { drafting_.end_draft(draft, seconds); }
  std::span<const TokenId> known() const { return tokens_; }
  void observe(const Slice& slice, std::span<const float> hidden) { drafting_.observe(slice, hidden); }
  // True if the next slice has logits for tokens of the prompt.
  bool wants_rows() const { return scores_prompt() || may_speculate(); }
  Sequence& sequence() { return sequence_; }

 private:
  // The reply's own token stream, and the random numbers of any stream.
  struct Stream {
    std::unique_ptr<TokenStream> own;
    bool is_asked_for = false;   // the device is not asked again if it has refused
    int n_left = 0;              // tokens that the stream has not delivered yet
    uint64_t n_draws_ahead = 0;  // random numbers that a stream has drawn for tokens not taken yet
  };
  // How the reply ends.
  struct End {
    std::optional<FinishReason> reason;  // by reply_so_far or a grammar; next() has not said so yet
    std::optional<Error> failure;        // next() has not returned it yet
    std::optional<Error> error;          // the error that ended the reply
  };

  Result<void> run_alone();
  size_t most_drafts(const PassPlan& plan) const;
  Result<Slice> slice_with_drafts(PassPlan& plan);
  Result<void> take_drafts(std::span<const float> rows);
  Result<void> take_from_stream();
  // True in decode: the next pass runs just the last chosen token, after those that have to run again.
  bool is_decoding() const { return n_new() == 1 && !result().tokens.empty(); }
  // True if the device should choose tokens rather than check draft tokens.
  bool prefers_stream() const;
  bool device_may_choose() const { return !is_constrained() && sampler_.is_plain() && options_.n_logprobs < 0; }
  // True if the host must choose the next token.
  bool is_constrained() const { return constraint_ && (constraint_->is_active() || constraint_->changes_logits()); }
  std::span<const TokenId> last_known() const { return std::span(tokens_).last(1); }
  void add_chosen(TokenId token);
  void drop_stream();
  void take_back_draws();  // for tokens that a stream did not deliver
  size_t n_to_score() const { return static_cast<size_t>(reply_.result.stats.n_prompt); }
  // True while the log probabilities of the prompt's tokens are not all known.
  bool scores_prompt() const {
    return options_.n_prompt_logprobs >= 0 && reply_.result.prompt_logprobs.size() + 1 < n_to_score();
  }
  std::span<const float> score_prompt(std::span<const float> rows);
  void heal(std::span<const float> logits);
  Result<void> choose(std::span<const float> logits);
  Result<TokenId> choose_among_allowed(std::span<const float> logits);
  int n_best(int n_ahead = 0);
  Result<void> start_stream();
  std::optional<FinishReason> reason_to_end(std::optional<TokenId> token);
  void take_reply_so_far();

  void shift_context();
  void end(FinishReason reason);
  void detach();

  Sequence& sequence_;  // must not be used after the end
  Impl** active_;       // null after the end
  const GenerateOptions options_;
  const Tokenizer* tokenizer_;
  std::vector<TokenId> tokens_;
  std::vector<TokenId> to_heal_;      // the prompt's last tokens, which are still to be chosen again
  std::span<const TokenId> running_;  // the tokens of the last next_slice()
  Drafting drafting_;
  size_t n_again_ = 0;       // known tokens that the sequence has forgotten after a check (Sequence::settle)
  size_t n_unreported_ = 0;  // number of known tokens at the end that next() has not returned
  Sampler sampler_;
  Reply reply_;
  std::unique_ptr<TokenConstraint> constraint_;  // null: no constraint
  grammar::TokenMask allowed_;                   // allowed next tokens, including stop tokens
  std::vector<float> changed_logits_;            // the constraint's; empty if it changes none
  Stream stream_;
  End end_;
};

}  // namespace tern
