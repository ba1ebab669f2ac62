// Chooses the next token from logits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/logit_change.h"
#include "sample/candidates.h"
#include "sample/dry.h"
#include "sample/mirostat.h"
#include "sample/random.h"
#include "sample/repetition_window.h"
#include "sample/sampler_steps.h"
#include "tern/error.h"
#include "tern/options.h"
#include "tern/sampling.h"

namespace tern {

// kInvalidArgument: a token outside the vocabulary, or a bias that is neither finite nor −infinity; the message names
// the token.
Result<void> check_logit_bias(std::span<const LogitBias> biases, int n_vocab);

// Chooses tokens. The bias comes first; the other steps are applied in the order of Sampling::samplers, by default
// llama.cpp's:
//
//   bias         logit + bias; tokens that a grammar forbids become −infinity
//   penalties    a token seen n times among the last repeat_last_n: logit / penalty^n, or · penalty^n if it is
//   negative;
//                then a token seen n > 0 times in the reply: logit − presence_penalty − n · frequency_penalty
//   dry          logit − penalty of the repetition that the token would extend (sample/dry.h)
//   top_n_sigma … xtc
//                filters (sample/candidates.h)
//   temperature  softmax(logit / temperature) from here on; before, it is 1
//
// and then one draw over the remaining tokens: the first token, in order of ids, at which the sum of probabilities
// exceeds uniform(). With Mirostat (sample/mirostat.h), it runs in place of all filters, after the other steps.
//
// At temperature 0 the result is the largest logit after bias, penalties and dry, without randomness.
//
// On a tie the lower id wins. A NaN logit is never chosen; if all are NaN, the token is 0. An infinite logit gets all
// the probability (shared, if there are several).
//
// The same options, logits and accepted tokens give the same choices. Nothing is allocated after construction, except
// by typical_p and dry. Not thread-safe: one sampler per sequence.
class Sampler {
 public:
  // `options` must have passed check_sampling, and `biases` check_logit_bias; n_vocab ≥ 1. `piece_of` is for DRY's
  // breakers, of which there are none without it.
  Sampler(const Sampling& options, int n_vocab, std::span<const LogitBias> biases = {}, PieceOf piece_of = {});

  // These tokens are not chosen until so many tokens have been accepted.
  void forbid_before(int n_tokens, std::span<const TokenId> tokens);

  // Returns the next token for logits [n_vocab]. Does not record it: call accept() with it.
  TokenId sample(std::span<const float> logits);
  // Same, but only among tokens in `allowed`, a bit mask with the lowest id first: after step 1 the other logits are
  // −infinity. If no allowed token is above −infinity, the result may be a token that is not allowed. The first call
  // allocates.
  TokenId sample(std::span<const float> logits, std::span<const uint64_t> allowed);

  // The number of largest logits (ignoring NaN) that determine the result of sample(), also after up to n_ahead more
  // tokens: any logit smaller than all of these may be replaced by −infinity. 0: all logits matter.
  int n_best(int n_ahead = 0);

  // Records a token (0 ≤ token < n_vocab) of the prompt or of the reply for the penalties.
  void accept_prompt(TokenId token);
  void accept(TokenId token);

  // The next random number in [0, 1), a multiple of 2^-24. sample() uses n_draws() per token; a device that samples
  // itself takes its numbers from here.
  float uniform() { return random_.uniform(); }
  int n_draws() const { return is_greedy_ ? 0 : has(SamplerStep::kXtc) ? 2 : 1; }
  // Returns the last n numbers unused; they come again.
  void rewind(uint64_t n) { random_.step_back(n); }

  // True if the choice takes no more than changed logits (list_changes()), top-n-sigma, top-k, typical-p, top-p, min-p,
  // XTC and the temperature, in this order. Then these are the options of the same name, which have values without
  // effect for steps that do not run.
  bool is_plain() const;
  // True if biases, penalties or DRY may change logits. list_changes() lists the changes of the next token's: one for
  // each token whose logit changes. The first call allocates.
  bool changes_logits() const { return !biases_.empty() || forbids() || !first_.empty(); }
  void list_changes(std::vector<LogitChange>& changes);
  // The number of tokens to accept until nothing is forbidden any more (forbid_before()).
  int n_forbidding() const { return forbids() ? static_cast<int>(n_forbid_before_ - n_accepted_) : 0; }
  const Sampling& options() const { return options_; }

  // Forgets the recorded tokens, and restarts the random numbers and Mirostat.
  void reset();

 private:
  void read_steps();
  bool is_active(SamplerStep step) const;
  bool has(SamplerStep step) const { return std::ranges::contains(steps_, step); }
  bool forbids() const { return n_accepted_ < n_forbid_before_ && !forbidden_.empty(); }

  void adjust(std::span<const float> logits, std::span<const uint64_t> allowed);
  TokenId choose(std::span<const float> logits);
  void apply(SamplerStep step);
  float repetition_factor(int32_t n) const;
  float penalized_repetition(float logit, int32_t n) const;
  float reply_penalty(TokenId token) const;

  Sampling options_;
  int n_vocab_;
  bool is_greedy_ = false;
  bool penalizes_repetition_ = false;
  bool penalizes_reply_ = false;
  std::vector<SamplerStep> first_;  // of the steps with an effect, those in adjust(): penalties and DRY before filters
  std::vector<SamplerStep> steps_;  // the others
  std::vector<LogitBias> biases_;   // one per token
  SplitMix64 random_;
  Candidates candidates_;
  std::optional<DryPenalty> dry_;
  std::optional<Mirostat> mirostat_;
  std::vector<TokenId> forbidden_;
  int64_t n_forbid_before_ = 0, n_accepted_ = 0;
  std::vector<float> adjusted_;        // [n_vocab] logits after biases and penalties; empty if there are none
  RepetitionWindow window_;            // without memory if there is no repetition penalty
  std::vector<int32_t> reply_counts_;  // [n_vocab] occurrences in the reply; empty without reply penalties
  std::vector<TokenId> reply_tokens_;  // the tokens with a nonzero count
  std::vector<int32_t> places_;        // for list_changes(): [n_vocab] places in the list, −1 between calls
};

}  // namespace tern
