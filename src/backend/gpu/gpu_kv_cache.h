// Keys and values of one conversation on the device, and the program that runs the plan with them.
#pragma once

#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backend/gpu/device.h"
#include "backend/gpu/program.h"

namespace tern::gpu {

// One buffer a layer, [2][n_kv_heads][n_ctx][head_dim] (kernels/kv_cache.h).
class GpuKvCache final : public KvCache {
 public:
  static Result<std::unique_ptr<GpuKvCache>> create(Device& device, const Config& config, int n_ctx, KvType type);

  int n_ctx() const override { return n_ctx_; }
  uint64_t bytes() const override;
  KvType type() const { return type_; }
  BufferView layer(int index) const { return {layers_[static_cast<size_t>(index)].get(), 0, 0}; }

  // Expires with the cache.
  std::weak_ptr<const GpuKvCache> watch() const { return alive_; }

  Program program;

 private:
  GpuKvCache(int n_ctx, KvType type) : n_ctx_(n_ctx), type_(type) {}
  int n_ctx_;
  KvType type_;
  std::vector<std::unique_ptr<Buffer>> layers_;
  std::shared_ptr<const GpuKvCache> alive_{this, [](const GpuKvCache*) {}};
};

}  // namespace tern::gpu
