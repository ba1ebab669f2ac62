// Log probabilities out of logits.
#pragma once

#include <span>

#include "tern/logprobs.h"

namespace tern {

// Of `token` and of the n_top most probable (fewer where there are fewer), for logits [n_vocab]: log softmax, summed in
// double. A NaN logit is impossible, and is not among the most probable.
Logprobs log_probabilities(std::span<const float> logits, TokenId token, int n_top);

}  // namespace tern
