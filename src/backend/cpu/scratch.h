// Scratch memory of one worker.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "backend/cpu/ops/fetch_ahead.h"

namespace tern::cpu {

template <class T>
struct AlignedToLines {
  using value_type = T;
  AlignedToLines() = default;
  template <class U>
  AlignedToLines(const AlignedToLines<U>&) {}  // NOLINT(google-explicit-constructor): conversion between allocators

  T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(kCacheLine))); }
  void deallocate(T* at, size_t) { ::operator delete(at, std::align_val_t(kCacheLine)); }
  bool operator==(const AlignedToLines&) const = default;
};

// Aligned to a cache line, because activations are loaded again for every row and a vector across two lines takes two
// loads.
using Scratch = std::vector<float, AlignedToLines<float>>;

}  // namespace tern::cpu
