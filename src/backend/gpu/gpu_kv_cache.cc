#include "backend/gpu/gpu_kv_cache.h"

#include "backend/kv_layout.h"
#include "base/format_text.h"

namespace tern::gpu {

Result<std::unique_ptr<GpuKvCache>> GpuKvCache::create(Device& device, const Config& config, int n_ctx, KvType type) {
  const uint64_t all_layers = kv_bytes(config, n_ctx, type);
  const uint64_t bytes = all_layers / static_cast<uint64_t>(config.n_layers);
  if (bytes > device.limits().binding_bytes) {
    return fail(ErrorCode::kOutOfMemory,
                "a context of {} tokens takes {} MB a layer, but this GPU binds at most {} MB at once; use a smaller "
                "context",
                n_ctx, bytes >> 20, device.limits().binding_bytes >> 20);
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
