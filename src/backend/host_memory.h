// Memory of the backends that run on the host: zeroed, aligned, and taken from the system page by page as it is
// touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/result.h"

namespace tern {

// Of x86-64, and of ARM with pages of 4 KiB.
inline constexpr uint64_t kHugePage = uint64_t{2} << 20;

// A zeroed region, page-aligned; from kHugePage on it begins with a large page, where the system has them. Untouched
// pages cost no memory.
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

}  // namespace tern
