#include <cstdlib>
#include <cstring>

#include "base/bytes.h"
#include "base/platform/memory.h"

namespace tern::platform {

// Not by Emscripten's mmap(): its regions begin at multiples of 64 KiB, and what is lost counts for small models.
std::byte* map_pages(uint64_t bytes, uint64_t /*large_page*/) {
  constexpr uint64_t kAlignment = 64;
  const auto n = static_cast<size_t>(ceil_div(bytes, kAlignment) * kAlignment);
  void* const pages = std::aligned_alloc(kAlignment, n);
  if (pages) std::memset(pages, 0, n);
  return static_cast<std::byte*>(pages);
}

void unmap_pages(std::byte* pages, uint64_t /*bytes*/) { std::free(pages); }

void advise_large_pages(std::byte* /*pages*/, uint64_t /*bytes*/) {}

}  // namespace tern::platform
