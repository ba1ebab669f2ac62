// The web build has no copy of the head (record/web/head_copy.cc), so there is nothing to check.
#include "backend/gpu/run/trust/check_best_logits.h"

#include "base/check.h"

namespace tern::gpu {

Result<void> check_best_logits(Device&, const Plan&, const Program&, const WorkBuffers&, const DeviceSampler&, int) {
  CHECK(false);
}

}  // namespace tern::gpu
