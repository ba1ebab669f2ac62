// What to say when a model computes no numbers.
#pragma once

#include <span>
#include <string>

#include "backend/backend.h"
#include "base/result.h"

namespace tern {

// Whether tokens can be chosen by them: none is NaN or +infinity, and not all are −infinity, which stands for "not
// among the best" (Batch::n_best).
bool can_choose_by(std::span<const float> logits);

// The error for logits by which none can be chosen: kCorruption, naming the plan's first step whose values are not
// finite, and the position. To find it, all of `tokens`, with which a sequence of at most n_ctx begins, are run again.
std::unexpected<Error> explain_not_finite(Executable& executable, KvType type, int n_ctx,
                                          std::span<const TokenId> tokens);

}  // namespace tern
