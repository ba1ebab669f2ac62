// Chooses the next token from logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sample/random.h"
#include "sample/repetition_window.h"
#include "tern/error.h"
#include "tern/options.h"

namespace tern {

// kInvalidArgument: a meaningless value; the message names the option and its range.
Result<void> check_sampling(const Sampling& sampling);

// kInvalidArgument: a token outside the vocabulary, or a bias that is neither finite nor −infinity; the message names
// the token.
Result<void> check_logit_bias(std::span<const LogitBias> biases, int n_vocab);

// Chooses tokens. The steps are applied in llama.cpp's order:
//
//   1. bias                 logit + bias; tokens that a grammar forbids become −infinity
//   2. repetition penalty   a token seen n times among the last repeat_last_n: logit / penalty^n, or · penalty^n if it
//                           is negative
//      reply penalties      a token seen n > 0 times in the reply: logit − presence_penalty − n · frequency_penalty
//   3. top-k                keep the k largest logits
//   4. top-p                keep the smallest set of most probable tokens whose share is at least p
//   5. min-p                drop tokens less probable than min_p times the best
//   6. temperature          softmax(logit / temperature) over the remaining tokens, and one draw
//
// The draw is the first token, in order of ids, at which the sum of probabilities exceeds uniform().
//
// The temperature comes last so that it does not change the candidates: steps 3 to 5 use probabilities at temperature
// 1. At temperature 0 the result is the largest logit after step 2, without randomness.
//
// On a tie the lower id wins. A NaN logit is never chosen; if all are NaN, the token is 0. An infinite logit gets all
// the probability (shared, if there are several).
//
// The same options, logits and accepted tokens give the same choices. Nothing is allocated after construction. Not
// thread-safe: one sampler per sequence.
class Sampler {
 public:
  // `options` must have passed check_sampling, and `biases` check_logit_bias; n_vocab ≥ 1.
  Sampler(const Sampling& options, int n_vocab, std::span<const LogitBias> biases = {});

  // Returns the next token for logits [n_vocab]. Does not record it: call accept() with it.
  TokenId sample(std::span<const float> logits);
  // Same, but only among tokens in `allowed`, a bit mask with the lowest id first: after step 1 the other logits are
  // −infinity. If no allowed token is above −infinity, the result may be a token that is not allowed. The first call
  // allocates.
  TokenId sample(std::span<const float> logits, std::span<const uint64_t> allowed);

  // The number of largest logits (ignoring NaN) that determine the result of sample(): any logit smaller than all of
  // these may be replaced by −infinity. 0: all logits matter.
  int n_best() const;

  // Records a token (0 ≤ token < n_vocab) of the prompt or of the reply for the penalties.
  void accept_prompt(TokenId token);
  void accept(TokenId token);

  // The next random number in [0, 1), a multiple of 2^-24. sample() uses one per token at a temperature above 0; a
  // device that samples itself takes its numbers from here.
  float uniform() { return random_.uniform(); }
  // Returns the last n numbers unused; they come again.
  void rewind(uint64_t n) { random_.step_back(n); }

  // True if biases or penalties change the logits before the choice.
  bool adjusts_logits() const { return penalizes_repetition_ || penalizes_reply_ || !biases_.empty(); }

  // Forgets the recorded tokens and restarts the random numbers.
  void reset();

 private:
  struct Candidate {
    float logit;
    TokenId id;
    float weight;  // proportional to the probability
  };
  static bool is_better(const Candidate& a, const Candidate& b);

  void adjust(std::span<const float> logits, std::span<const uint64_t> allowed);
  TokenId choose(std::span<const float> logits);
  void penalize_repetition();
  void penalize_reply();
  void collect(std::span<const float> logits);
  void collect_top_k(std::span<const float> logits);
  void offer(const Candidate& candidate, size_t k);
  void set_weights(float temperature);
  void keep_top_p();
  void keep_min_p();
  TokenId draw();

  Sampling options_;
  int n_vocab_;
  bool penalizes_repetition_;
  bool penalizes_reply_;
  std::vector<LogitBias> biases_;  // one per token
  SplitMix64 random_;
  std::vector<Candidate> candidates_;
  float greatest_ = 0;                 // the greatest logit
  std::vector<float> adjusted_;        // [n_vocab] logits after biases and penalties; empty if there are none
  RepetitionWindow window_;            // without memory if there is no repetition penalty
  std::vector<int32_t> reply_counts_;  // [n_vocab] occurrences in the reply; empty without reply penalties
  std::vector<TokenId> reply_tokens_;  // the tokens with a nonzero count
};

}  // namespace tern
