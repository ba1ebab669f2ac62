// Compares the device's attention over a short prompt with the host's, computed from the device's own queries, keys and
// values. It may use subgroup matrices, for which the device's self-test has no kernel.
#pragma once

#include "backend/gpu/device/device.h"
#include "backend/gpu/memory/gpu_kv_store.h"
#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/program.h"
#include "plan/plan.h"

namespace tern::gpu {

// Tokens of the prompt: a tile of the kernel, and a KV block.
inline constexpr int kCheckedPrompt = 64;

// Runs the plan up to its first attention, with the first block of `store`, which must be f16, and compares some heads
// of some tokens. kNotSupported if they are far off. The contents of the work buffers are undefined afterwards.
Result<void> check_attention(Device& device, const Plan& plan, const Program& program, const GpuKvStore& store,
                             const WorkBuffers& work);

}  // namespace tern::gpu
