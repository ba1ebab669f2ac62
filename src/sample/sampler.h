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

// kInvalidArgument, naming the token, for a bias of a token outside the vocabulary, or one that is neither finite nor
// −infinity.
Result<void> check_logit_bias(std::span<const LogitBias> biases, int n_vocab);

// Chooses tokens. The steps and their order, which is llama.cpp's:
//
//   1. bias                 logit + bias; what a grammar forbids is −infinity
//   2. repetition penalty   a token seen n times among the last repeat_last_n: logit / penalty^n, or · penalty^n where
//                           it is negative
//      of the reply         a token seen n > 0 times in the reply: logit − presence_penalty − n · frequency_penalty
//   3. top-k                the k greatest logits
//   4. top-p                of these the smallest set of the most probable with a share of at least p
//   5. min-p                without those less probable than min_p times the best
//   6. temperature          softmax(logit / temperature) over what is left, and one draw
//
// The draw is the first token, in the order of ids, up to which the probabilities add up to more than uniform().
//
// The temperature comes last so that it does not change which tokens are candidates: 3 to 5 look at probabilities at
// temperature 1. At temperature 0 the result is the greatest logit after step 2; nothing is random.
//
// Everywhere a tie counts for the lower id. A NaN logit is never chosen; where all are NaN the token is 0. An infinite
// logit has all the probability (shared, if there are several).
//
// The same options, logits and accepted tokens give the same choices. Nothing is allocated after construction. Not
// thread-safe: one sampler per sequence.
class Sampler {
 public:
  // `options` have passed check_sampling, and `biases` check_logit_bias; n_vocab ≥ 1.
  Sampler(const Sampling& options, int n_vocab, std::span<const LogitBias> biases = {});

  // The next token for logits [n_vocab]. It is not recorded: call accept with it.
  TokenId sample(std::span<const float> logits);
  // The same among those of `allowed`, which has a bit for each token, the lowest first: after step 1 the others are
  // −infinity. Where nothing that is allowed is above −infinity, some other token may come out. The first call
  // allocates.
  TokenId sample(std::span<const float> logits, std::span<const uint64_t> allowed);

  // How many of the greatest logits (NaN aside) decide what sample() returns: any other that is less than all of these
  // may as well be −infinity. 0: all decide.
  int n_best() const;

  // Record a token (0 ≤ token < n_vocab) of the prompt or of the reply, for the penalties.
  void accept_prompt(TokenId token);
  void accept(TokenId token);

  // The next random number in [0, 1), a multiple of 2^-24. sample() takes one per token at a temperature above 0; a
  // device that chooses tokens in its place takes them from here.
  float uniform() { return random_.uniform(); }
  // The last n of them have not been used, and will come again.
  void take_back(uint64_t n) { random_.step_back(n); }

  // Whether logits are changed before they are looked at, by biases or penalties.
  bool adjusts_logits() const { return penalises_repetition_ || penalises_reply_ || !biases_.empty(); }

  // Forgets the recorded tokens and starts the random numbers again.
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
  void penalise_repetition();
  void penalise_reply();
  void collect(std::span<const float> logits);
  void collect_top_k(std::span<const float> logits);
  void offer(const Candidate& candidate, size_t k);
  void set_weights(float temperature);
  void keep_top_p();
  void keep_min_p();
  TokenId draw();

  Sampling options_;
  int n_vocab_;
  bool penalises_repetition_;
  bool penalises_reply_;
  std::vector<LogitBias> biases_;  // one per token
  SplitMix64 random_;
  std::vector<Candidate> candidates_;
  float greatest_ = 0;           // the greatest logit
  std::vector<float> adjusted_;  // [n_vocab] logits after biases and penalties; empty where there are none
  std::vector<int32_t> counts_;  // [n_vocab] occurrences within the window; empty where there is no such penalty
  std::vector<TokenId> window_;  // ring of the last repeat_last_n tokens; empty where all count
  int n_seen_ = 0;               // tokens whose count is not 0
  size_t window_next_ = 0;       // the ring's oldest entry once it is full
  size_t window_used_ = 0;
  std::vector<int32_t> reply_counts_;  // [n_vocab] occurrences in the reply; empty where there is no such penalty
  std::vector<TokenId> reply_tokens_;  // those with a count
};

}  // namespace tern
