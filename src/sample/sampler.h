// From logits to the next token.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sample/random.h"
#include "tern/error.h"
#include "tern/options.h"

namespace tern {

// kInvalidArgument, naming the option and its range, for options that have no meaning.
Result<void> check_sampling(const Sampling& sampling);

// Chooses tokens. The steps and their order, which is llama.cpp's:
//
//   1. repetition penalty   a token seen n times among the last repeat_last_n: logit / penalty^n, or · penalty^n where
//   it is
//                           negative
//   2. top-k                the k greatest logits
//   3. top-p                of these the smallest set of the most probable with a share of at least p
//   4. min-p                without those less probable than min_p times the best
//   5. temperature          softmax(logit / temperature) over what is left, and one draw
//
// The draw is the first token, in the order of ids, up to which the probabilities add up to more than uniform().
//
// The temperature comes last so that it does not change which tokens are candidates: 2 to 4 look at probabilities at
// temperature 1. At temperature 0 the result is the greatest logit after step 1; nothing is random.
//
// Everywhere a tie counts for the lower id. A NaN logit is never chosen; where all are NaN the token is 0. An infinite
// logit has all the probability (shared, if there are several).
//
// The same options, logits and accepted tokens give the same choices. Nothing is allocated after construction. Not
// thread-safe: one sampler per sequence.
class Sampler {
 public:
  // `options` have passed check_sampling; n_vocab ≥ 1.
  Sampler(const Sampling& options, int n_vocab);

  // The next token for logits [n_vocab]. It is not recorded: call accept with it.
  TokenId sample(std::span<const float> logits);

  // How many of the greatest logits (NaN aside) decide what sample() returns: any other that is less than all of these
  // may as well be −infinity. 0: all decide.
  int n_best() const;

  // Records a token (0 ≤ token < n_vocab) of the prompt or the output, for the repetition penalty.
  void accept(TokenId token);

  // The next random number in [0, 1), a multiple of 2^-24. sample() takes one per token at a temperature above 0; a
  // device that chooses tokens in its place takes them from here.
  float uniform() { return random_.uniform(); }

  // Whether the recorded tokens matter.
  bool uses_penalty() const { return uses_penalty_; }

  // Forgets the recorded tokens and starts the random numbers again.
  void reset();

 private:
  struct Candidate {
    float logit;
    TokenId id;
    float weight;  // proportional to the probability
  };
  static bool is_better(const Candidate& a, const Candidate& b);

  std::span<const float> penalise(std::span<const float> logits);
  void collect(std::span<const float> logits);
  void collect_top_k(std::span<const float> logits);
  void offer(const Candidate& candidate, size_t k);
  void set_weights(float temperature);
  void keep_top_p();
  void keep_min_p();
  TokenId draw();

  Sampling options_;
  int n_vocab_;
  bool uses_penalty_;
  SplitMix64 random_;
  std::vector<Candidate> candidates_;
  float greatest_ = 0;            // the greatest logit
  std::vector<float> penalised_;  // [n_vocab] logits after the penalty; empty where there is none
  std::vector<int32_t> counts_;   // [n_vocab] occurrences within the window; empty where there is no penalty
  std::vector<TokenId> window_;   // ring of the last repeat_last_n tokens; empty where all count
  int n_seen_ = 0;                // tokens whose count is not 0
  size_t window_next_ = 0;        // the ring's oldest entry once it is full
  size_t window_used_ = 0;
};

}  // namespace tern
