// Memory for the backends that run on the host: zeroed and aligned. The system provides its pages when they are first
// touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/result.h"

namespace tern {

// The huge-page size of x86-64, and of ARM with 4 KiB pages.
inline constexpr uint64_t kHugePage = uint64_t{2} << 20;

// A zeroed, page-aligned region. From kHugePage bytes on, it starts at a huge-page boundary on systems with huge pages.
// Untouched pages cost no memory.
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

  // Asks the system for huge pages, if it has them: fewer TLB misses for memory that is used in full.
  void advise_huge_pages() const;

  std::byte* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace tern
