#include "engine/fit_context.h"

#include <algorithm>

#include "base/log.h"

namespace tern {

Result<std::unique_ptr<KvCache>> new_largest_cache(const Executable& executable, int trained_ctx, KvType type) {
  constexpr int kLeast = 2048;
  for (int n_ctx = trained_ctx;; n_ctx = std::max(n_ctx / 2, kLeast)) {
    auto cache = executable.new_cache(n_ctx, type);
    const bool may_try_less = !cache && cache.error().code == ErrorCode::kOutOfMemory && n_ctx > kLeast;
    if (may_try_less) continue;
    if (cache && n_ctx < trained_ctx) {
      warn("there is memory for a context of {} tokens, not for the {} that the model was trained for", n_ctx,
           trained_ctx);
    }
    return cache;
  }
}

}  // namespace tern
