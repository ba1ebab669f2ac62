#pragma once

#include <memory>

#include "backend/backend.h"

namespace tern {

// A cache for as much of the trained context as there is memory for: all of it, or half, a quarter and so on, but no
// less than 2,048 tokens. Warns where it is not all. Errors: the backend's, for the least of them.
Result<std::unique_ptr<KvCache>> new_largest_cache(const Executable& executable, int trained_ctx, KvType type);

}  // namespace tern
