#pragma once

#include <functional>
#include <memory>

#include "engine/sequence.h"

namespace tern {

// A sequence for as much of the trained context as there is memory for: all of it, or half, a quarter and so on, but no
// less than 2,048 tokens. Warns where it is not all. Errors: those of `create`, for the least of them.
Result<std::unique_ptr<Sequence>> new_largest_sequence(
    const std::function<Result<std::unique_ptr<Sequence>>(int n_ctx)>& create, int trained_ctx);

}  // namespace tern
