// Memory that callers free with tern_free.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string_view>

namespace tern::c_api {

// Allocates at least one byte, so that the result is never null.
template <class T>
T* allocate(size_t n) {
  void* memory = std::malloc((n > 0 ? n : 1) * sizeof(T));
  if (!memory) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

// A copy with a terminating 0.
inline char* copied(std::string_view text) {
  char* copy = allocate<char>(text.size() + 1);
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

template <class T>
T* copied(std::span<const T> values) {
  T* copy = allocate<T>(values.size());
  if (!values.empty()) std::memcpy(copy, values.data(), values.size_bytes());
  return copy;
}

}  // namespace tern::c_api
