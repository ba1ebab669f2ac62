// Compares the best logits found with the head's int8 copy with all logits, before a device is trusted with the copy.
#pragma once

#include "backend/gpu/device/device.h"
#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/device_sampler.h"
#include "plan/plan.h"

namespace tern::gpu {

// Runs the head of `program`, which has the copy, on n_rows rows of random numbers: kNotSupported if the best logits
// differ from those without the copy. The contents of the work buffers are undefined afterwards.
Result<void> check_best_logits(Device& device, const Plan& plan, const Program& program, const WorkBuffers& work,
                               const DeviceSampler& sampler, int n_rows);

}  // namespace tern::gpu
