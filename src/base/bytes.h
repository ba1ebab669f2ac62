// Byte views, and little-endian loads that need no alignment.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace tern {

static_assert(std::endian::native == std::endian::little, "Tern reads little-endian files in place");

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

template <class T>
  requires std::is_trivially_copyable_v<T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <class T>
  requires std::is_trivially_copyable_v<T>
void store(std::byte* at, const T& value) {
  std::memcpy(at, &value, sizeof(T));
}

inline std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
inline Bytes as_bytes(std::string_view text) { return {reinterpret_cast<const std::byte*>(text.data()), text.size()}; }

// Smallest multiple of `to` that is >= n. `to` is a power of two.
constexpr uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) & ~(to - 1); }

// n / d, rounded up.
template <std::unsigned_integral T>
constexpr T ceil_div(T n, std::type_identity_t<T> d) {
  return (n + d - 1) / d;
}

}  // namespace tern
