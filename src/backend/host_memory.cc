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

ops::KvLayer HostKvCache::layer(int index) const {
  const uint64_t side = kv_value_bytes(type_) * static_cast<uint64_t>(n_kv_heads_) * static_cast<uint64_t>(head_dim_) *
                        static_cast<uint64_t>(n_ctx_);
  std::byte* k = memory_.data() + 2 * side * static_cast<uint64_t>(index);
  return {.k = k, .v = k + side, .type = type_, .n_ctx = n_ctx_, .n_kv_heads = n_kv_heads_, .head_dim = head_dim_};
}

}  // namespace tern
