#include "sample/count_allocations_test_support.h"

#include <atomic>
#include <cstdlib>
#include <new>

// In a file of its own: otherwise the compiler sees only one half of a new/delete pair and warns about it.
namespace {
std::atomic<size_t> n_allocations = 0;
}

void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++n_allocations;
  return std::malloc(size);
}
void* operator new(size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

size_t tern::allocations_so_far() { return n_allocations; }
