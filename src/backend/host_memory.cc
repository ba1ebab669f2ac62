#include "backend/host_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace tern {
namespace {

#ifdef __linux__
constexpr bool kHasHugePages = true;
#else
constexpr bool kHasHugePages = false;  // in browsers a part of a mapping cannot be unmapped
#endif

std::unexpected<Error> refused(uint64_t bytes, const char* what) {
  return fail(ErrorCode::kOutOfMemory, "{} needs {} MB of memory, which the system refused; use a smaller context",
              what, bytes / 1'000'000);
}

// Null if the system refuses.
std::byte* map(uint64_t bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

// Maps from a huge-page boundary on, so that as much as possible lies in huge pages.
std::byte* map_from_huge_page(uint64_t bytes) {
  std::byte* const all = map(bytes + kHugePage);
  if (!all) return nullptr;
  const uint64_t before = (kHugePage - reinterpret_cast<uintptr_t>(all) % kHugePage) % kHugePage;
  const uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t used = (bytes + page - 1) / page * page;
  if (before > 0) ::munmap(all, before);
  ::munmap(all + before + used, kHugePage - before);
  return all + before;
}

}  // namespace

Result<HostMemory> HostMemory::allocate(uint64_t bytes, const char* what) {
  HostMemory memory;
  if (bytes == 0) return memory;
  if (bytes > PTRDIFF_MAX - kHugePage) return refused(bytes, what);  // possible where sizes have 32 bits
  memory.data_ = kHasHugePages && bytes >= kHugePage ? map_from_huge_page(bytes) : map(bytes);
  if (!memory.data_) return refused(bytes, what);
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

}  // namespace tern
