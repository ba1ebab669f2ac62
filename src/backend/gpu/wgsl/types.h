// One C++ tag per WGSL type. Tags are only names and are never instantiated as values.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tern::wgsl {

// A string as a template argument.
template <size_t N>
struct Str {
  char chars[N];
  constexpr Str(const char (&text)[N]) { std::copy_n(text, N, chars); }  // NOLINT(google-explicit-constructor)
  constexpr std::string_view view() const { return {chars, N - 1}; }
  auto operator<=>(const Str&) const = default;
};

// Compile-time concatenation of strings, and a number as a decimal string.
template <Str... Parts>
inline constexpr auto kJoined = [] {
  char all[(Parts.view().size() + ... + 1)] = {};
  char* end = all;
  ((end = std::ranges::copy(Parts.view(), end).out), ...);
  return Str(all);
}();
template <uint32_t N>
inline constexpr auto kDecimal = [] {
  if constexpr (N >= 10) {
    return kJoined<kDecimal<N / 10>, kDecimal<N % 10>>;
  } else {
    const char digit[] = {static_cast<char>('0' + N), '\0'};
    return Str(digit);
  }
}();

template <Str Name>
struct Tag {
  static constexpr auto kName = Name;
  static constexpr std::string_view wgsl() { return Name.view(); }  // the WGSL spelling of the type
};
template <Str Name, uint32_t Bytes>
struct Storable : Tag<Name> {
  static constexpr uint32_t kBytes = Bytes;
};

// ---- Scalars
struct F32 : Storable<"f32", 4> {};
struct F16 : Storable<"f16", 2> {};
struct U32 : Storable<"u32", 4> {};
struct I32 : Storable<"i32", 4> {};
struct Bool : Storable<"bool", 4> {};

// ---- Packed words: u32 in WGSL, but without arithmetic. Each has its own functions to unpack it.
struct I8x4 : Storable<"u32", 4> {};   // four int8: dot4I8Packed
struct F16x2 : Storable<"u32", 4> {};  // two f16: unpack2x16float
// Sixteen ternary codes of an I2_S block (quant/formats/i2_s.h): byte b of word w of a 128-element block holds the code
// of element 32p + 4w + b at bits 6 − 2p. The weight is code − 1.
struct I2sWord : Storable<"u32", 4> {};

struct I8 : Tag<"i8"> {};  // only as the component type of a subgroup matrix
// Four int8 in an i32, the form in which subgroup matrices load them from memory (subgroup_matrix.h).
struct MatrixI8x4 : Storable<"i32", 4> {};

// ---- Vectors
// Only sizes 2 and 4: an array of vec3 has gaps, and nothing here needs one.
template <class T, uint32_t N>
  requires(N == 2 || N == 4)
struct Vec : Storable<kJoined<"vec", kDecimal<N>, "<", T::kName, ">">, N * T::kBytes> {
  using Element = T;
  static constexpr uint32_t kSize = N;
};
template <class T>
using Vec2 = Vec<T, 2>;
template <class T>
using Vec4 = Vec<T, 4>;

// ---- Memory accessed only by atomic operations
template <class T>
struct Atomic : Storable<kJoined<"atomic<", T::kName, ">">, T::kBytes> {
  using Element = T;
};

template <class T>
struct ElementOf {
  using type = T;
};
template <class T, uint32_t N>
struct ElementOf<Vec<T, N>> {
  using type = T;
};
template <class T>
using Element = typename ElementOf<T>::type;

template <class T>
inline constexpr bool is_vec = false;
template <class T, uint32_t N>
inline constexpr bool is_vec<Vec<T, N>> = true;
template <class T>
inline constexpr bool is_atomic = false;
template <class T>
inline constexpr bool is_atomic<Atomic<T>> = true;

template <class T>
concept PackedType = std::same_as<T, I8x4> || std::same_as<T, F16x2> || std::same_as<T, I2sWord>;
template <class T>
concept IntegerScalar = std::same_as<T, U32> || std::same_as<T, I32>;
template <class T>
concept FloatScalar = std::same_as<T, F32> || std::same_as<T, F16>;
template <class T>
concept NumberScalar = IntegerScalar<T> || FloatScalar<T>;
template <class T>
concept Number = NumberScalar<Element<T>>;  // scalars and vectors
template <class T>
concept Integer = IntegerScalar<Element<T>>;
template <class T>
concept Float = FloatScalar<Element<T>>;
template <class T>
concept Signed = Number<T> && !std::same_as<Element<T>, U32>;

}  // namespace tern::wgsl
