#pragma once

#include <functional>
#include <memory>

#include "engine/kv/sequence.h"

namespace tern {

// Creates a sequence for the trained context, or half of it, a quarter and so on if memory is short, but at least 2,048
// tokens. Warns if the context is shortened. Errors: those of `create` for the smallest context.
Result<std::unique_ptr<Sequence>> new_largest_sequence(
    const std::function<Result<std::unique_ptr<Sequence>>(int n_ctx)>& create, int trained_ctx);

}  // namespace tern
