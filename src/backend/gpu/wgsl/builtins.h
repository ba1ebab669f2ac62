// WGSL's builtin functions, with the names that they have in WGSL.
#pragma once

#include "backend/gpu/wgsl/values.h"

namespace tern::wgsl {

// Conversions: f32(x), i32(x), u32(x), f16(x). bitcast<T>(x) keeps the bits.
template <Traced A>
  requires NumberScalar<TypeOf<A>> || IsBool<TypeOf<A>>
Temp<F32> f32(A&& a) {
  return call<F32>("f32", std::forward<A>(a));
}
template <Traced A>
  requires NumberScalar<TypeOf<A>> || IsBool<TypeOf<A>>
Temp<I32> i32(A&& a) {
  return call<I32>("i32", std::forward<A>(a));
}
template <Traced A>
  requires NumberScalar<TypeOf<A>> || IsBool<TypeOf<A>>
Temp<U32> u32(A&& a) {
  return call<U32>("u32", std::forward<A>(a));
}
template <Value A>
  requires NumberScalar<TypeOf<A>>
Temp<F16> f16(A&& a) {
  writer->needs().f16 = true;
  return call<F16>("f16", std::forward<A>(a));
}
template <class To, Traced A>
  requires(TypeOf<A>::kBytes == To::kBytes) && Number<To> && Number<TypeOf<A>>
Temp<To> bitcast(A&& a) {
  return call<To>(cat("bitcast<", To::wgsl(), ">"), std::forward<A>(a));
}
template <ValueOf<Vec4<F16>> A>
Temp<Vec4<F32>> vec4f(A&& a) {
  return call<Vec4<F32>>("vec4<f32>", std::forward<A>(a));
}
template <ValueOf<Vec4<F32>> A>
Temp<Vec4<F16>> vec4h(A&& a) {
  writer->needs().f16 = true;
  return call<Vec4<F16>>("vec4<f16>", std::forward<A>(a));
}
template <ValueOf<Vec2<F16>> A>
Temp<Vec2<F32>> vec2f(A&& a) {
  return call<Vec2<F32>>("vec2<f32>", std::forward<A>(a));
}

// Vectors from parts.
template <ValueOf<F32> A, ValueOf<F32> B, ValueOf<F32> C, ValueOf<F32> D>
Temp<Vec4<F32>> vec4f(A&& a, B&& b, C&& c, D&& d) {
  return call<Vec4<F32>>("vec4<f32>", std::forward<A>(a), std::forward<B>(b), std::forward<C>(c), std::forward<D>(d));
}
template <ValueOf<Vec2<F32>> A, ValueOf<Vec2<F32>> B>
Temp<Vec4<F32>> vec4f(A&& a, B&& b) {
  return call<Vec4<F32>>("vec4<f32>", std::forward<A>(a), std::forward<B>(b));
}
template <ValueOf<U32> A, ValueOf<U32> B, ValueOf<U32> C, ValueOf<U32> D>
Temp<Vec4<U32>> vec4u(A&& a, B&& b, C&& c, D&& d) {
  return call<Vec4<U32>>("vec4<u32>", std::forward<A>(a), std::forward<B>(b), std::forward<C>(c), std::forward<D>(d));
}
template <ValueOf<F32> A, ValueOf<F32> B>
Temp<Vec2<F32>> vec2f(A&& a, B&& b) {
  return call<Vec2<F32>>("vec2<f32>", std::forward<A>(a), std::forward<B>(b));
}
template <ValueOf<F16x2> A, ValueOf<F16x2> B>
Temp<Vec2<F16x2>> vec2_of(A&& a, B&& b) {
  return call<Vec2<F16x2>>(Vec2<F16x2>::wgsl(), std::forward<A>(a), std::forward<B>(b));
}
template <class T, Value A>
  requires is_vec<T> && std::same_as<TypeOf<A>, Element<T>>
Temp<T> splat(A&& a) {
  return call<T>(T::wgsl(), std::forward<A>(a));
}

// Arithmetic.
// NOLINTBEGIN(bugprone-macro-parentheses): types and operators cannot be parenthesized
#define WGSL_FUNCTION_1(name, Kind)                    \
  template <Traced A>                                  \
    requires Kind<TypeOf<A>>                           \
  Temp<TypeOf<A>> name(A&& a) {                        \
    return call<TypeOf<A>>(#name, std::forward<A>(a)); \
  }
WGSL_FUNCTION_1(abs, Number)
WGSL_FUNCTION_1(cos, Float)
WGSL_FUNCTION_1(exp, Float)
WGSL_FUNCTION_1(exp2, Float)
WGSL_FUNCTION_1(floor, Float)
WGSL_FUNCTION_1(inverseSqrt, Float)
WGSL_FUNCTION_1(log, Float)
WGSL_FUNCTION_1(round, Float)  // half to even
WGSL_FUNCTION_1(sin, Float)
WGSL_FUNCTION_1(sqrt, Float)
#undef WGSL_FUNCTION_1
// NOLINTEND(bugprone-macro-parentheses)

template <class A, class B>
  requires Pair<A, B> && Number<TypeOf<A>>
Temp<TypeOf<A>> max(A&& a, B&& b) {
  return call<TypeOf<A>>("max", std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
  requires Pair<A, B> && Number<TypeOf<A>>
Temp<TypeOf<A>> min(A&& a, B&& b) {
  return call<TypeOf<A>>("min", std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class C>
  requires Pair<A, B> && Pair<A, C> && Number<TypeOf<A>>
Temp<TypeOf<A>> clamp(A&& a, B&& low, C&& high) {
  return call<TypeOf<A>>("clamp", std::forward<A>(a), std::forward<B>(low), std::forward<C>(high));
}
template <Value A, Value B, Value C>
  requires std::same_as<TypeOf<A>, TypeOf<B>> && std::same_as<TypeOf<A>, TypeOf<C>> && Float<TypeOf<A>>
Temp<TypeOf<A>> fma(A&& a, B&& b, C&& c) {
  return call<TypeOf<A>>("fma", std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
}
template <class A, class B>
  requires Pair<A, B> && is_vec<TypeOf<A>> && Number<TypeOf<A>>
Temp<Element<TypeOf<A>>> dot(A&& a, B&& b) {
  return call<Element<TypeOf<A>>>("dot", std::forward<A>(a), std::forward<B>(b));
}
// WGSL's argument order: if_false, if_true, condition.
template <Value A, Value B, ValueOf<Bool> C>
  requires std::same_as<TypeOf<A>, TypeOf<B>>
Temp<TypeOf<A>> select(A&& if_false, B&& if_true, C&& condition) {
  return call<TypeOf<A>>("select", std::forward<A>(if_false), std::forward<B>(if_true), std::forward<C>(condition));
}

// Packed words.
template <ValueOf<I8x4> A, ValueOf<I8x4> B>
Temp<I32> dot4I8Packed(A&& a, B&& b) {
  writer->needs().packed_dot = true;
  return call<I32>("dot4I8Packed", std::forward<A>(a), std::forward<B>(b));
}
template <ValueOf<Vec4<I32>> A>
Temp<I8x4> pack4xI8(A&& a) {          // the low byte of each component
  writer->needs().packed_dot = true;  // one language feature covers all 4x8 functions
  return call<I8x4>("pack4xI8", std::forward<A>(a));
}
template <ValueOf<F16x2> A>
Temp<Vec2<F32>> unpack2x16float(A&& a) {
  return call<Vec2<F32>>("unpack2x16float", std::forward<A>(a));
}
template <ValueOf<Vec2<F32>> A>
Temp<F16x2> pack2x16float(A&& a) {
  return call<F16x2>("pack2x16float", std::forward<A>(a));
}
// Reinterpret a packed word as its bits, and back. For kernels that unpack words by hand.
template <Value A>
  requires PackedType<TypeOf<A>>
Temp<U32> bits(A&& a) {
  auto v = e(std::forward<A>(a));
  return Temp<U32>(std::move(v.text), v.binding, v.epoch);
}
template <PackedType T, ValueOf<U32> A>
Temp<T> packed(A&& a) {
  auto v = e(std::forward<A>(a));
  return Temp<T>(std::move(v.text), v.binding, v.epoch);
}

// The codes of elements 32p + 4w … 32p + 4w + 3 of a block, one per byte, from word w and plane p. Kernels decode
// ternary weights with it. It takes a Name because it is called four times with each word.
inline Temp<I8x4> codes(const Name<I2sWord>& word, uint32_t plane) {
  CHECK(plane < 4);
  const uint32_t shift = 6 - 2 * plane;
  const Text shifted = shift == 0 ? word.text : cat("(", word.text, " >> ", std::to_string(shift), "u)");
  return Temp<I8x4>(cat(shifted, " & 0x03030303u"), Binding::kOther);
}
// The same for plane 3 − shift/2, for a loop over planes.
inline Temp<I8x4> codes(const Name<I2sWord>& word, const Name<U32>& shift) {
  return Temp<I8x4>(cat("(", word.text, " >> ", shift.text, ") & 0x03030303u"), Binding::kOther);
}

}  // namespace tern::wgsl
