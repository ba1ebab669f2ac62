// Products of the model's own matrices as the device computes them, against the same on the host: the last test before
// a device is trusted (self_test.h has those without a model).
#pragma once

#include <span>

#include "backend/gpu/device/device.h"
#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/layouts.h"
#include "backend/gpu/record/program.h"
#include "plan/plan.h"

namespace tern::gpu {

// Runs a token, short prompts where batches allow, and with subgroup matrices as long a one as they do, through the
// steps of `program`, which lacks those that need a KV cache, and computes some rows of the first feed-forward layer
// and of the head again. kNotSupported, with the tensor, where the device is far off; errors of reading weights. Leaves
// the work buffers as they happen to be. `others` are compiled with them.
Result<void> check_products(Device& device, const Plan& plan, const Program& program, const WorkBuffers& work,
                            int max_batch, int max_logit_rows, const Layouts& layouts, std::span<const Command> others);

}  // namespace tern::gpu
