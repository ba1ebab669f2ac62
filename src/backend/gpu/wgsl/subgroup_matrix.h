// Subgroup matrices (Dawn's chromium_experimental_subgroup_matrix): D[m, n] += A[m, k] · B[k, n], each spread over the
// lanes of a subgroup. All lanes must reach each operation together, so each is written where it is called.
//
// Undocumented rules, found by experiment with Tint:
// - subgroup_matrix_left<T, K, M>, _right<T, N, K>, _result<T, N, M>: columns come before rows.
// - i8 matrices load from array<i32> (array<i8> is not a type, array<u32> is rejected): four int8 per element, the
//   first in the low byte. Offset and stride still count int8, not i32. Other types load from arrays of their own type.
// - The stride is the distance between rows, or between columns in column-major layout. It must be at least the length
//   of one of them. Drivers want rows to start at multiples of 16 bytes, or of a row's bytes if a row is shorter.
// - Offsets must be uniform, but Tint only recognizes uniformity over a whole workgroup: a subgroup's index counts as
//   non-uniform. So its check (chromium.subgroup_matrix_uniformity) is off, and kernels must ensure uniformity.
// - Drivers also want arrays in workgroup memory to start at multiples of 16 bytes, and they choose where arrays start.
//   So every workgroup array of such a kernel is a multiple of 16 bytes long. A kernel with a four-byte array beside
//   them gave wrong results on an NVIDIA H100, most likely for this reason.
// - The workgroup's size must be a multiple of the device's largest subgroup size.
#pragma once

#include "backend/gpu/wgsl/subgroup.h"

namespace tern::wgsl {

// False in web builds: no browser offers subgroup matrices by default, and the kernels would add tens of kilobytes.
#ifdef __EMSCRIPTEN__
inline constexpr bool kHasMatrixKernels = false;
#else
inline constexpr bool kHasMatrixKernels = true;
#endif

enum class MatrixRole { kLeft, kRight, kResult };

namespace detail {
template <MatrixRole R>
inline constexpr Str kRoleName = "";
template <>
inline constexpr Str kRoleName<MatrixRole::kLeft> = "left";
template <>
inline constexpr Str kRoleName<MatrixRole::kRight> = "right";
template <>
inline constexpr Str kRoleName<MatrixRole::kResult> = "result";

template <MatrixRole R, class T, uint32_t Rows, uint32_t Cols>
inline constexpr auto kMatrixName =
    kJoined<"subgroup_matrix_", kRoleName<R>, "<", T::kName, ", ", kDecimal<Cols>, ", ", kDecimal<Rows>, ">">;
}  // namespace detail

template <MatrixRole R, class T, uint32_t Rows, uint32_t Cols>
struct SubgroupMatrix : Tag<detail::kMatrixName<R, T, Rows, Cols>> {
  static constexpr MatrixRole kRole = R;
  using Component = T;
  static constexpr uint32_t kRows = Rows, kCols = Cols;
  static void note() {
    detail::begin_subgroup_operation();
    writer->needs().subgroup_matrix = true;
    writer->diagnostic_off("chromium.subgroup_matrix_uniformity");
    detail::note_type<T>();
  }
};
template <class T, uint32_t M, uint32_t K>
using LeftMatrix = SubgroupMatrix<MatrixRole::kLeft, T, M, K>;
template <class T, uint32_t K, uint32_t N>
using RightMatrix = SubgroupMatrix<MatrixRole::kRight, T, K, N>;
template <class T, uint32_t M, uint32_t N>
using ResultMatrix = SubgroupMatrix<MatrixRole::kResult, T, M, N>;  // var<ResultMatrix<…>>("acc") starts as zero

namespace detail {
// The array element type that matrices with this component type are loaded from.
template <class Component>
using MatrixMemory = std::conditional_t<std::same_as<Component, I8>, MatrixI8x4, Component>;

template <class From, class To>
inline constexpr bool has_matrix_types = false;
template <>
inline constexpr bool has_matrix_types<I8, I32> = true;
template <>
inline constexpr bool has_matrix_types<F16, F32> = true;
template <>
inline constexpr bool has_matrix_types<F16, F16> = true;
template <>
inline constexpr bool has_matrix_types<F32, F32> = true;

template <class From, class To>
  requires has_matrix_types<From, To>
constexpr MatrixTypes matrix_types() {
  if (std::same_as<From, I8>) return MatrixTypes::kI8ToI32;
  if (std::same_as<From, F32>) return MatrixTypes::kF32ToF32;
  return std::same_as<To, F32> ? MatrixTypes::kF16ToF32 : MatrixTypes::kF16ToF16;
}
}  // namespace detail

enum class MatrixLayout { kRowMajor, kColumnMajor };

// Loads a matrix whose first component has index `offset` in the array.
template <class M, class Array, ValueOf<U32> O>
  requires std::same_as<typename Array::Element, detail::MatrixMemory<typename M::Component>>
Name<M> subgroupMatrixLoad(const Array& array, O&& offset, MatrixLayout layout, uint32_t stride) {
  CHECK(stride >= (layout == MatrixLayout::kRowMajor ? M::kCols : M::kRows));
  M::note();
  const Text at = text_of(e(std::forward<O>(offset)));
  const std::string_view column_major = layout == MatrixLayout::kColumnMajor ? "true" : "false";
  return let("matrix", raw<M>(cat("subgroupMatrixLoad<", M::wgsl(), ">(&", array.name(), ", ", at, ", ", column_major,
                                  ", ", std::to_string(stride), "u)")));
}

// sum += left · right
template <class T, class S, uint32_t M, uint32_t K, uint32_t N>
  requires detail::has_matrix_types<T, S>
void subgroupMatrixMultiplyAccumulate(const Name<LeftMatrix<T, M, K>>& left, const Name<RightMatrix<T, K, N>>& right,
                                      const Var<ResultMatrix<S, M, N>>& sum) {
  const MatrixShape shape{detail::matrix_types<T, S>(), M, N, K};
  auto& shapes = writer->needs().matrices;
  if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
  sum = call<ResultMatrix<S, M, N>>("subgroupMatrixMultiplyAccumulate", left, right, sum);
}

// Stores row by row, starting at component index `offset` of an array in workgroup memory.
template <class T, uint32_t M, uint32_t N, ValueOf<U32> O>
void subgroupMatrixStore(const Shared<T>& array, O&& offset, const Var<ResultMatrix<T, M, N>>& matrix,
                         uint32_t stride) {
  CHECK(stride >= N);
  const Text at = text_of(e(std::forward<O>(offset)));
  raw_statement(cat("subgroupMatrixStore(&", array.name(), ", ", at, ", ", matrix.text, ", false, ",
                    std::to_string(stride), "u);"));
}

// Converts packed int8 to the word type that matrices are loaded from.
template <ValueOf<I8x4> A>
Temp<MatrixI8x4> matrix_word(A&& a) {
  return call<MatrixI8x4>("bitcast<i32>", std::forward<A>(a));
}
// Reuses workgroup memory of operands for results: both are i32 in WGSL.
inline Shared<I32> as_i32(const Shared<MatrixI8x4>& array) { return {array.text}; }

}  // namespace tern::wgsl
