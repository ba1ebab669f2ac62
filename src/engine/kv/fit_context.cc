#include "engine/kv/fit_context.h"

#include <algorithm>

#include "base/log.h"

namespace tern {

Result<std::unique_ptr<Sequence>> new_largest_sequence(
    const std::function<Result<std::unique_ptr<Sequence>>(int n_ctx)>& create, int trained_ctx) {
  constexpr int kLeast = 2048;
  for (int n_ctx = trained_ctx;; n_ctx = std::max(n_ctx / 2, kLeast)) {
    auto sequence = create(n_ctx);
    const bool may_try_less = !sequence && sequence.error().code == ErrorCode::kOutOfMemory && n_ctx > kLeast;
    if (may_try_less) continue;
    if (sequence && n_ctx < trained_ctx) {
      warn("there is memory for a context of {} tokens, not for the {} that the model was trained for", n_ctx,
           trained_ctx);
    }
    return sequence;
  }
}

}  // namespace tern
