#include "backend/gpu/run/memory_need.h"

#include <algorithm>
#include <vector>

#include "backend/gpu/memory/gpu_kv_store.h"
#include "backend/gpu/memory/kv_order.h"
#include "backend/gpu/memory/rope_tables.h"
#include "backend/gpu/memory/weights/upload.h"
#include "backend/gpu/memory/work_buffers.h"
#include "backend/gpu/record/steps/native_parts.h"
#include "backend/kv_layout.h"

namespace tern::gpu {

MemoryNeed memory_need(const Plan& plan, const CompileOptions& options, int n_ctx, KvType type, int n_sequences) {
  MemoryNeed need;
  std::vector<StoredBytes::Identity> seen;  // compares bytes, since the head is often the embedding under another name
  for (const Step& step : plan.steps) {
    for_each_weight(step.body, [&](const Tensor* w, WeightRole role) {
      if (std::ranges::contains(seen, w->data.identity())) return;
      seen.push_back(w->data.identity());
      need.weights += weight_bytes(*w, role);
    });
  }
  need.activations = activation_bytes(plan, options.max_batch, options.max_logit_rows);
  const Config& c = plan.config;
  need.activations += c.ropes.size() * RopeTables::bytes(c, n_ctx);
  if (options.exact_head != ExactHead::kNo)
    need.activations += native_parts().head_copy_bytes(plan, options.max_logit_rows);
  if (n_ctx == 0) return need;
  const auto n_blocks = static_cast<uint64_t>(kv_blocks_for(n_ctx)) + 1;  // includes the spare one
  for (int layer = 0; layer < c.n_layers; ++layer) need.kv_cache += n_blocks * device_block_bytes(c, layer, type);
  need.states = GpuKvStore::bytes_for_states(c, n_sequences);
  return need;
}

}  // namespace tern::gpu
