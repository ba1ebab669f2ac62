// Mirostat: keeps the average surprise of a reply's tokens near a target. Basu et al., "Mirostat: a neural text
// decoding algorithm that directly controls perplexity", ICLR 2021.
#pragma once

#include <cstddef>

#include "sample/candidates.h"

namespace tern {

class Mirostat {
 public:
  // version: 1 or 2; target: bits per token; rate: the part of a token's error that changes the limit.
  Mirostat(int version, float target, float rate, int n_vocab)
      : version_(version), target_(target), rate_(rate), n_vocab_(n_vocab), limit_(2 * target) {}

  TokenId choose(Candidates& candidates, float uniform);
  void reset() { limit_ = 2 * target_; }

 private:
  size_t n_kept(double zipf_exponent) const;

  int version_;
  float target_, rate_;
  int n_vocab_;
  float limit_;  // the greatest surprise, in bits
};

}  // namespace tern
