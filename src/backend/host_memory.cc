#include "backend/host_memory.h"

#include <sys/mman.h>

#include <cstdint>

#include "backend/kv_layout.h"

namespace tern {
namespace {

std::unexpected<Error> refused(uint64_t bytes, const char* what) {
  return fail(ErrorCode::kOutOfMemory, "{} needs {} MB of memory, which the system refused; use a smaller context",
              what, bytes / 1'000'000);
}

}  // namespace

Result<HostMemory> HostMemory::allocate(uint64_t bytes, const char* what) {
  HostMemory memory;
  if (bytes == 0) return memory;
  if (bytes > PTRDIFF_MAX) return refused(bytes, what);  // where sizes have 32 bits
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return refused(bytes, what);
  memory.data_ = static_cast<std::byte*>(at);
  memory.bytes_ = bytes;
  return memory;
}

HostMemory::~HostMemory() {
  if (data_) ::munmap(data_, bytes_);
}

void HostMemory::advise_huge_pages() const {
#ifdef MADV_HUGEPAGE
  if (data_) ::madvise(data_, bytes_, MADV_HUGEPAGE);
#endif
}

Result<std::unique_ptr<HostKvCache>> HostKvCache::create(const Config& config, int n_ctx, KvType type) {
  TRY(auto memory, HostMemory::allocate(kv_bytes(config, n_ctx, type), "the KV cache"));
  return std::unique_ptr<HostKvCache>(new HostKvCache(config, n_ctx, type, std::move(memory)));
}

HostKvCache::HostKvCache(const Config& config, int n_ctx, KvType type, HostMemory memory)
    : n_ctx_(n_ctx), memory_(std::move(memory)) {
  std::byte* k = memory_.data();
  for (int layer = 0; layer < config.n_layers; ++layer) {
    const uint64_t bytes = kv_layer_bytes(config, layer, n_ctx, type);
    layers_.push_back({.k = k,
                       .v = k + bytes / 2,
                       .type = type,
                       .n_ctx = n_ctx,
                       .n_kv_heads = config.layer(layer).n_kv_heads,
                       .head_dim = config.head_dim});
    k += bytes;
  }
}

}  // namespace tern
