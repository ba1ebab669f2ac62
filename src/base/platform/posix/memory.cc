#include "base/platform/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace tern::platform {
namespace {

void* writable(Bytes bytes) { return const_cast<std::byte*>(bytes.data()); }

}  // namespace

SystemResult<Bytes> map_file(const DiskFile& file, size_t size) {
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, static_cast<int>(file.handle()), 0);
  if (at == MAP_FAILED) return std::unexpected(std::error_code(errno, std::generic_category()));
  return Bytes(static_cast<const std::byte*>(at), size);
}

void unmap_file(Bytes mapped) { ::munmap(writable(mapped), mapped.size()); }

void advise_large_pages([[maybe_unused]] Bytes mapped) {
#ifdef MADV_HUGEPAGE
  ::madvise(writable(mapped), mapped.size(), MADV_HUGEPAGE);
#endif
}

void load_mapped(Bytes part) {
#ifdef MADV_POPULATE_READ
  // Kernels before 5.14 lack it; pages are then loaded when they are touched.
  if (::madvise(writable(part), part.size(), MADV_POPULATE_READ) == 0) return;
#endif
  ::madvise(writable(part), part.size(), MADV_WILLNEED);
}

uint64_t page_size() { return static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)); }

uint64_t largest_cache_bytes() {
  long bytes = 0;
#ifdef _SC_LEVEL4_CACHE_SIZE
  for (const int level : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE}) {
    bytes = std::max(bytes, ::sysconf(level));
  }
#endif
  return static_cast<uint64_t>(bytes);
}

}  // namespace tern::platform
