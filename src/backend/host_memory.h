// Memory of the backends that run on the host: zeroed, aligned, and taken from the system page by page as it is
// touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/ops.h"
#include "base/result.h"

namespace tern {

// A zeroed region, page-aligned. Untouched pages cost no memory.
class HostMemory {
 public:
  HostMemory() = default;
  static Result<HostMemory> allocate(uint64_t bytes, const char* what);
  HostMemory(HostMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  HostMemory& operator=(HostMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HostMemory();

  // Asks for large pages, where the system has them to give: fewer address look-ups for memory that is used in full.
  void advise_huge_pages() const;

  std::byte* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
};

// Keys and values of all layers, each [2][n_kv_heads, n_ctx, head_dim].
class HostKvCache final : public KvCache {
 public:
  static Result<std::unique_ptr<HostKvCache>> create(const Config& config, int n_ctx, KvType type);

  int n_ctx() const override { return n_ctx_; }
  uint64_t bytes() const override { return memory_.bytes(); }
  const ops::KvLayer& layer(int index) const { return layers_[static_cast<size_t>(index)]; }

 private:
  HostKvCache(const Config& config, int n_ctx, KvType type, HostMemory memory);

  int n_ctx_;
  HostMemory memory_;
  std::vector<ops::KvLayer> layers_;
};

}  // namespace tern
