#include <sys/mman.h>

#include "base/platform/memory.h"

namespace tern::platform {
namespace {

std::byte* map(uint64_t bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

}  // namespace

std::byte* map_pages(uint64_t bytes, uint64_t large_page) {
  if (bytes < large_page) return map(bytes);
  std::byte* const all = map(bytes + large_page);
  if (!all) return nullptr;
  const uint64_t before = (large_page - reinterpret_cast<uintptr_t>(all) % large_page) % large_page;
  const uint64_t page = page_size();
  const uint64_t used = (bytes + page - 1) / page * page;
  if (before > 0) ::munmap(all, before);
  ::munmap(all + before + used, large_page - before);
  return all + before;
}

void unmap_pages(std::byte* pages, uint64_t bytes) { ::munmap(pages, bytes); }

void advise_large_pages([[maybe_unused]] std::byte* pages, [[maybe_unused]] uint64_t bytes) {
#ifdef MADV_HUGEPAGE
  ::madvise(pages, bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace tern::platform
