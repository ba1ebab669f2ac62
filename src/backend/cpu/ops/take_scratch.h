// Divides a worker's scratch memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"

namespace tern::cpu {

// Takes the next `bytes` of `free`, aligned for vectors.
template <class T>
T* take_scratch(std::span<float>& free, size_t bytes) {
  const auto at = reinterpret_cast<uintptr_t>(free.data());
  const size_t skip = (64 - at % 64) % 64 / sizeof(float);
  const size_t floats = skip + (bytes + sizeof(float) - 1) / sizeof(float);
  CHECK(floats <= free.size());
  T* taken = reinterpret_cast<T*>(free.data() + skip);
  free = free.subspan(floats);
  return taken;
}

}  // namespace tern::cpu
