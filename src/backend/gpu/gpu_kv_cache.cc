#include "backend/gpu/gpu_kv_cache.h"

#include <algorithm>

#include "backend/kv_layout.h"
#include "base/format_text.h"

namespace tern::gpu {

Result<std::unique_ptr<GpuKvCache>> GpuKvCache::create(Device& device, const Config& config, int n_ctx, KvType type) {
  uint64_t all_layers = 0, largest = 0;
  for (int layer = 0; layer < config.n_layers; ++layer) {
    const uint64_t bytes = kv_layer_bytes(config, layer, n_ctx, type);
    all_layers += bytes;
    largest = std::max(largest, bytes);
  }
  if (largest > device.limits().binding_bytes) {
    return fail(ErrorCode::kOutOfMemory,
                "a context of {} tokens takes {} MB a layer, but this GPU binds at most {} MB at once; use a smaller "
                "context",
                n_ctx, largest >> 20, device.limits().binding_bytes >> 20);
  }
  const uint64_t memory = device.adapter().memory_bytes;
  if (memory > 0 && device.allocated_bytes() + all_layers > memory) {
    return fail(ErrorCode::kOutOfMemory,
                "a context of {} tokens takes {} MB, which do not fit beside the {} MB that are in use of the {} MB of "
                "the GPU {}; use a smaller context, or use the cpu backend",
                n_ctx, all_layers >> 20, device.allocated_bytes() >> 20, memory >> 20, device.adapter().name);
  }
  std::unique_ptr<GpuKvCache> cache(new GpuKvCache(n_ctx, type));
  for (int layer = 0; layer < config.n_layers; ++layer) {
    const uint64_t bytes = kv_layer_bytes(config, layer, n_ctx, type);
    TRY(auto buffer, device.new_buffer(format_text("the KV cache of layer {}", layer), bytes, BufferUse::kWork));
    cache->layers_.push_back(std::move(buffer));
  }
  return cache;
}

uint64_t GpuKvCache::bytes() const {
  uint64_t total = 0;
  for (const auto& layer : layers_) total += layer->bytes();
  return total;
}

}  // namespace tern::gpu
