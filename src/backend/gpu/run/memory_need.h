// The device memory that a model needs.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "plan/plan.h"

namespace tern::gpu {

// Bytes that the plan takes on a device: weights, activations of a batch, KV cache of `n_ctx` tokens.
struct MemoryNeed {
  uint64_t weights = 0, activations = 0, kv_cache = 0;
  uint64_t total() const { return weights + activations + kv_cache; }
};
MemoryNeed memory_need(const Plan& plan, const CompileOptions& options, int n_ctx, KvType type);

}  // namespace tern::gpu
