// One C++ tag per WGSL type. Tags are only names: no value of them ever exists.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
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

// ---- Scalars
struct F32 {
  static std::string wgsl() { return "f32"; }
  static constexpr uint32_t kBytes = 4;
};
struct F16 {
  static std::string wgsl() { return "f16"; }
  static constexpr uint32_t kBytes = 2;
};
struct U32 {
  static std::string wgsl() { return "u32"; }
  static constexpr uint32_t kBytes = 4;
};
struct I32 {
  static std::string wgsl() { return "i32"; }
  static constexpr uint32_t kBytes = 4;
};
struct Bool {
  static std::string wgsl() { return "bool"; }
  static constexpr uint32_t kBytes = 4;
};

// ---- Packed words: u32 to WGSL, but no arithmetic; each has its own way out.
struct I8x4 {  // four int8: dot4I8Packed
  static std::string wgsl() { return "u32"; }
  static constexpr uint32_t kBytes = 4;
};
struct F16x2 {  // two f16: unpack2x16float
  static std::string wgsl() { return "u32"; }
  static constexpr uint32_t kBytes = 4;
};
// Sixteen ternary codes of an I2_S block (quant/i2_s.h): word w of a block of 128 elements has in byte b, at bits 6 −
// 2p, the code of element 32p + 4w + b. code − 1 is the weight.
struct I2sWord {
  static std::string wgsl() { return "u32"; }
  static constexpr uint32_t kBytes = 4;
};

struct I8 {  // only as the element of a subgroup matrix
  static std::string wgsl() { return "i8"; }
};
// Four int8 in an i32: the form in which subgroup matrices take them from memory (subgroup_matrix.h).
struct MatrixI8x4 {
  static std::string wgsl() { return "i32"; }
  static constexpr uint32_t kBytes = 4;
};

// ---- Vectors
// Of two or four: an array of vec3 has gaps, and nothing here needs one.
template <class T, uint32_t N>
  requires(N == 2 || N == 4)
struct Vec {
  using Element = T;
  static constexpr uint32_t kSize = N;
  static std::string wgsl() { return "vec" + std::to_string(N) + "<" + T::wgsl() + ">"; }
  static constexpr uint32_t kBytes = N * T::kBytes;
};
template <class T>
using Vec2 = Vec<T, 2>;
template <class T>
using Vec4 = Vec<T, 4>;

// ---- Memory that only atomic operations touch
template <class T>
struct Atomic {
  using Element = T;
  static std::string wgsl() { return "atomic<" + T::wgsl() + ">"; }
  static constexpr uint32_t kBytes = T::kBytes;
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
concept Number = NumberScalar<Element<T>>;  // scalars and vectors alike
template <class T>
concept Integer = IntegerScalar<Element<T>>;
template <class T>
concept Float = FloatScalar<Element<T>>;
template <class T>
concept Signed = Number<T> && !std::same_as<Element<T>, U32>;

}  // namespace tern::wgsl
