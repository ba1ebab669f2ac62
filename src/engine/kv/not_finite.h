// The error for a model whose results are not finite.
#pragma once

#include <span>
#include <string>

#include "backend/backend.h"
#include "base/result.h"

namespace tern {

// True if tokens can be chosen by these logits: none is NaN or +infinity, and not all are −infinity, which marks logits
// that are not among the best (Slice::n_best).
bool can_choose_by(std::span<const float> logits);

// The error for logits by which no token can be chosen: kCorruption, with the position and the first step of the plan
// whose values are not finite. To find it, runs all of `tokens`, the start of a sequence of at most n_ctx, again.
std::unexpected<Error> explain_not_finite(Executable& executable, KvType type, int n_ctx,
                                          std::span<const TokenId> tokens);

}  // namespace tern
