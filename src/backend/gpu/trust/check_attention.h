// Attention of a short prompt as the device computes it, against the same on the host, from the device's own queries,
// keys and values: it may be on subgroup matrices, of which the device's test has no kernel.
#pragma once

#include "backend/gpu/device/device.h"
#include "backend/gpu/memory/gpu_kv_store.h"
#include "backend/gpu/memory/work_buffers.h"
#include "plan/plan.h"

namespace tern::gpu {

// Tokens of the prompt: a tile of the kernel, and a block of the cache.
inline constexpr int kCheckedPrompt = 64;

// Runs the plan up to its first attention, with the first block of `store`, which is of f16, and compares some heads of
// some tokens. kNotSupported where they are far off. Leaves the work buffers as they happen to be.
Result<void> check_attention(Device& device, const Plan& plan, const GpuKvStore& store, const WorkBuffers& work);

}  // namespace tern::gpu
