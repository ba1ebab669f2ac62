#include "backend/host_memory.h"

#include <cstdint>

#include "base/platform/memory.h"

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
  if (bytes > PTRDIFF_MAX - kHugePage) return refused(bytes, what);  // possible where sizes have 32 bits
  memory.data_ = platform::map_pages(bytes, kHugePage);
  if (!memory.data_) return refused(bytes, what);
  memory.bytes_ = bytes;
  return memory;
}

HostMemory::~HostMemory() {
  if (data_) platform::unmap_pages(data_, bytes_);
}

void HostMemory::advise_huge_pages() const {
  if (data_) platform::advise_large_pages(data_, bytes_);
}

}  // namespace tern
