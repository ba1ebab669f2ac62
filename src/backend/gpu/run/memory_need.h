// The device memory that a model needs.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "plan/plan.h"

namespace tern::gpu {

// Bytes that the plan takes on a device: weights, activations of a batch, KV cache of `n_ctx` tokens, and the states of
// recurrent layers of `n_sequences`. With n_ctx = 0, neither cache nor states.
struct MemoryNeed {
  uint64_t weights = 0, activations = 0, kv_cache = 0, states = 0;
  uint64_t total() const { return weights + activations + kv_cache + states; }
};
MemoryNeed memory_need(const Plan& plan, const CompileOptions& options, int n_ctx, KvType type, int n_sequences = 1);

}  // namespace tern::gpu
