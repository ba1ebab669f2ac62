// Computes log probabilities from logits.
#pragma once

#include <span>

#include "tern/logprobs.h"

namespace tern {

// Log probabilities of `token` and of the n_top most probable tokens (or fewer), for logits [n_vocab]: log softmax,
// summed in double. A NaN logit counts as impossible and is never among the most probable.
Logprobs log_probabilities(std::span<const float> logits, TokenId token, int n_top);

}  // namespace tern
