// Log probabilities of a token and its alternatives.
#pragma once

#include <vector>

#include "tern/options.h"

namespace tern {

struct TokenLogprob {
  TokenId token = 0;
  float logprob = 0;  // natural logarithm; −infinity: impossible
};

// The log probabilities at one position of a text, from the model's logits before biases, penalties and temperature.
struct Logprobs {
  float chosen = 0;               // log probability of the chosen token
  std::vector<TokenLogprob> top;  // the most probable tokens, best first; on a tie the lower id first
};

}  // namespace tern
