// Compares the device's products of the model's own matrices with the host's: the last test before a device is trusted
// (self_test.h has the tests without a model).
#pragma once

#include <span>

#include "backend/gpu/device/device.h"
#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/layouts.h"
#include "backend/gpu/record/program.h"
#include "plan/plan.h"

namespace tern::gpu {

// Runs a token, short prompts if batches allow, and with subgroup matrices the longest prompt that a batch allows,
// through the steps of `program` except those that need a KV cache. Then some rows of the first feed-forward layer and
// of the head are recomputed on the host. kNotSupported, with the tensor's name, if the device is far off; errors of
// reading weights. The contents of the work buffers are undefined afterwards. `others` are compiled together with these
// commands.
Result<void> check_products(Device& device, const Plan& plan, const Program& program, const WorkBuffers& work,
                            int max_batch, int max_logit_rows, const Layouts& layouts, std::span<const Command> others);

}  // namespace tern::gpu
