// How probable a model found a token, and what else it might have said.
#pragma once

#include <vector>

#include "tern/options.h"

namespace tern {

struct TokenLogprob {
  TokenId token = 0;
  float logprob = 0;  // natural logarithm; −infinity: impossible
};

// Of one place in a text: from the model's logits as they are, before biases, penalties and temperature.
struct Logprobs {
  float chosen = 0;               // of the token that was taken
  std::vector<TokenLogprob> top;  // the most probable, best first; the lower id first on a tie
};

}  // namespace tern
