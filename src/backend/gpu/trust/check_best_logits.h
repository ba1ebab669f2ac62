// The best logits by way of the head's int8 copy, against all of them: before a device is trusted with it.
#pragma once

#include "backend/gpu/device/device.h"
#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/device_sampler.h"
#include "plan/plan.h"

namespace tern::gpu {

// Runs the head of `program`, which has the copy, on so many rows of random numbers: kNotSupported where the best are
// not what they are without it. Leaves the work buffers as they happen to be.
Result<void> check_best_logits(Device& device, const Plan& plan, const Program& program, const WorkBuffers& work,
                               const DeviceSampler& sampler, int n_rows);

}  // namespace tern::gpu
