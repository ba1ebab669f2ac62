// Expressions. There are three kinds of value, which differ in what C++ lets you do with them:
//
//   Temp<T>  an unnamed expression: move-only, so it can be used exactly once. To use it twice, name it with let().
//   Name<T>  a `let` or anything else that never changes: copyable, use it as often as you like.
//   Place<T> a `var`, or one element of writable memory: readable, and assignable as a Var or Ref.
//
// A literal's C++ type determines its WGSL type: 1u is u32, 1 is i32, 1.0f is f32.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "backend/gpu/wgsl/types.h"
#include "backend/gpu/wgsl/writer.h"
#include "base/check.h"

namespace tern::wgsl {

// How tightly an expression binds. WGSL requires parentheses around kOther (comparisons, shifts, bit operations)
// whenever it is combined with another operator.
enum class Binding { kOther, kSum, kProduct, kPrimary };

// An expression of any type. Moving leaves an empty one behind, so that a second use is detected.
struct Expression {
  Text text;
  Binding binding = Binding::kPrimary;
  // The writer's epoch when the text read memory that can change, otherwise zero. Using such an expression after a
  // write would silently read the new value, so it is rejected (see `text_of`).
  int epoch = 0;

  explicit Expression(Text t, Binding b = Binding::kPrimary, int at = 0) : text(t), binding(b), epoch(at) {}
  Expression(Expression&& other) noexcept
      : text(std::exchange(other.text, Text())), binding(other.binding), epoch(other.epoch) {}
  Expression& operator=(Expression&&) = delete;
  Expression(const Expression&) = delete;  // to use it twice, bind it with let()
  ~Expression() = default;
};

template <class T>
struct Temp : Expression {
  using type = T;
  using Expression::Expression;
  explicit Temp(Expression&& untyped) : Expression(std::move(untyped)) {}
  explicit operator bool() const = delete;  // a C++ `if` runs while tracing: use when()
};

template <class T>
struct Name {
  using type = T;
  Text text;
  explicit operator bool() const = delete;
};

template <class T>
struct Place {
  using type = T;
  Text text;
  explicit operator bool() const = delete;
};

namespace detail {
Expression literal(uint32_t v);
Expression literal(int32_t v);
Expression literal(float v);
Expression use(Expression&& once);  // rejects an expression that was used before
// Add parentheses where needed.
Expression unary(std::string_view op, const Expression& a, Binding binding);
Expression binary(const Expression& a, std::string_view op, const Expression& b, Binding binding);
Expression call(std::string_view function, std::span<const Expression> arguments);
}  // namespace detail

// e(x): converts x to an expression.
inline Temp<U32> e(uint32_t v) { return Temp<U32>(detail::literal(v)); }
inline Temp<I32> e(int32_t v) { return Temp<I32>(detail::literal(v)); }
inline Temp<F32> e(float v) { return Temp<F32>(detail::literal(v)); }
Temp<Bool> e(bool) = delete;  // known while tracing: use C++'s if
template <class T>
Temp<T> e(Temp<T>&& t) {
  return Temp<T>(detail::use(std::move(t)));
}
template <class T>
Temp<T> e(const Name<T>& n) {
  return Temp<T>(n.text);
}
template <class T>
  requires(!is_atomic<T>)
Temp<T> e(const Place<T>& p) {
  return Temp<T>(p.text, Binding::kPrimary, writer->epoch());
}

template <class A>
concept Value = requires(A&& a) { e(std::forward<A>(a)); };
template <Value A>
using TypeOf = typename decltype(e(std::declval<A>()))::type;
template <class A, class T>
concept ValueOf = Value<A> && std::same_as<TypeOf<A>, T>;
template <class A>
concept Traced = Value<A> && !std::is_arithmetic_v<std::remove_cvref_t<A>>;
// Two operands of the same type, at least one of which is not a C++ number.
template <class A, class B>
concept Pair = Value<A> && Value<B> && (Traced<A> || Traced<B>) && std::same_as<TypeOf<A>, TypeOf<B>>;

// The text of an expression that is about to be written. Rejects one that has become stale (see Expression::epoch).
Text text_of(const Expression& expression);

// The older of two epochs. Zero means that no memory is read.
inline int join_epochs(int a, int b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

namespace detail {
template <class T>
struct BoolLike {
  using type = Bool;
};
template <class T, uint32_t N>
struct BoolLike<Vec<T, N>> {
  using type = Vec<Bool, N>;
};
}  // namespace detail

// NOLINTBEGIN(bugprone-macro-parentheses): types and operators cannot be parenthesized
#define WGSL_OPERATOR(op, binding, Kind, Result)                                                     \
  template <class A, class B>                                                                        \
    requires Pair<A, B> && Kind<TypeOf<A>>                                                           \
  Temp<Result> operator op(A&& a, B&& b) {                                                           \
    return Temp<Result>(detail::binary(e(std::forward<A>(a)), #op, e(std::forward<B>(b)), binding)); \
  }
WGSL_OPERATOR(+, Binding::kSum, Number, TypeOf<A>)
WGSL_OPERATOR(-, Binding::kSum, Number, TypeOf<A>)
WGSL_OPERATOR(*, Binding::kProduct, Number, TypeOf<A>)
WGSL_OPERATOR(/, Binding::kProduct, Number, TypeOf<A>)
WGSL_OPERATOR(%, Binding::kProduct, Integer, TypeOf<A>)
WGSL_OPERATOR(&, Binding::kOther, Integer, TypeOf<A>)
WGSL_OPERATOR(|, Binding::kOther, Integer, TypeOf<A>)
WGSL_OPERATOR(^, Binding::kOther, Integer, TypeOf<A>)
WGSL_OPERATOR(<, Binding::kOther, Number, typename detail::BoolLike<TypeOf<A>>::type)
WGSL_OPERATOR(<=, Binding::kOther, Number, typename detail::BoolLike<TypeOf<A>>::type)
WGSL_OPERATOR(>, Binding::kOther, Number, typename detail::BoolLike<TypeOf<A>>::type)
WGSL_OPERATOR(>=, Binding::kOther, Number, typename detail::BoolLike<TypeOf<A>>::type)
WGSL_OPERATOR(==, Binding::kOther, Number, typename detail::BoolLike<TypeOf<A>>::type)
WGSL_OPERATOR(!=, Binding::kOther, Number, typename detail::BoolLike<TypeOf<A>>::type)
#undef WGSL_OPERATOR
// NOLINTEND(bugprone-macro-parentheses)

template <class T>
concept IsBool = std::same_as<T, Bool>;
template <class A, class B>
  requires Pair<A, B> && IsBool<TypeOf<A>>
Temp<Bool> operator&&(A&& a, B&& b) {
  return Temp<Bool>(detail::binary(e(std::forward<A>(a)), "&&", e(std::forward<B>(b)), Binding::kOther));
}
template <class A, class B>
  requires Pair<A, B> && IsBool<TypeOf<A>>
Temp<Bool> operator||(A&& a, B&& b) {
  return Temp<Bool>(detail::binary(e(std::forward<A>(a)), "||", e(std::forward<B>(b)), Binding::kOther));
}

// The shift amount is always u32.
template <Traced A, ValueOf<U32> B>
  requires IntegerScalar<TypeOf<A>>
Temp<TypeOf<A>> operator<<(A&& a, B&& b) {
  return Temp<TypeOf<A>>(detail::binary(e(std::forward<A>(a)), "<<", e(std::forward<B>(b)), Binding::kOther));
}
template <Traced A, ValueOf<U32> B>
  requires IntegerScalar<TypeOf<A>>
Temp<TypeOf<A>> operator>>(A&& a, B&& b) {
  return Temp<TypeOf<A>>(detail::binary(e(std::forward<A>(a)), ">>", e(std::forward<B>(b)), Binding::kOther));
}

// Shifts of a vector take a vector of u32 amounts, one per component.
template <Traced A, ValueOf<Vec4<U32>> B>
  requires std::same_as<TypeOf<A>, Vec4<U32>>
Temp<TypeOf<A>> operator<<(A&& a, B&& b) {
  return Temp<TypeOf<A>>(detail::binary(e(std::forward<A>(a)), "<<", e(std::forward<B>(b)), Binding::kOther));
}
template <Traced A, ValueOf<Vec4<U32>> B>
  requires std::same_as<TypeOf<A>, Vec4<U32>>
Temp<TypeOf<A>> operator>>(A&& a, B&& b) {
  return Temp<TypeOf<A>>(detail::binary(e(std::forward<A>(a)), ">>", e(std::forward<B>(b)), Binding::kOther));
}

// A vector times a scalar of its element type.
template <Traced A, Value B>
  requires is_vec<TypeOf<A>> && Number<TypeOf<A>> && std::same_as<Element<TypeOf<A>>, TypeOf<B>>
Temp<TypeOf<A>> operator*(A&& a, B&& b) {
  return Temp<TypeOf<A>>(detail::binary(e(std::forward<A>(a)), "*", e(std::forward<B>(b)), Binding::kProduct));
}

template <Traced A>
  requires Signed<TypeOf<A>>
Temp<TypeOf<A>> operator-(A&& a) {
  return Temp<TypeOf<A>>(detail::unary("-", e(std::forward<A>(a)), Binding::kSum));
}
template <Traced A>
  requires IsBool<TypeOf<A>>
Temp<Bool> operator!(A&& a) {
  return Temp<Bool>(detail::unary("!", e(std::forward<A>(a)), Binding::kProduct));
}
template <Traced A>
  requires IntegerScalar<TypeOf<A>>
Temp<TypeOf<A>> operator~(A&& a) {
  return Temp<TypeOf<A>>(detail::unary("~", e(std::forward<A>(a)), Binding::kProduct));
}

// f(a, b): a call with any arguments.
template <class R, class... A>
Temp<R> call(std::string_view function, A&&... args) {
  const Expression list[] = {e(std::forward<A>(args))...};  // braces: left to right
  return Temp<R>(detail::call(function, list));
}

// Component i of a named vector.
Text component_text(std::string_view vector, uint32_t i);
template <class T, uint32_t N>
Name<T> at(const Name<Vec<T, N>>& v, uint32_t i) {
  CHECK(i < N);
  return {component_text(v.text, i)};
}
// The same with an index that is known only on the device.
template <class T, uint32_t N, ValueOf<U32> I>
Temp<T> component(const Name<Vec<T, N>>& v, I&& i) {
  auto index = e(std::forward<I>(i));
  return Temp<T>(cat(v.text, "[", index.text, "]"), Binding::kPrimary, index.epoch);
}
// The same for an element of an array, of which only the component is loaded.
template <class T, uint32_t N, ValueOf<U32> I>
Temp<T> component(Temp<Vec<T, N>>&& v, I&& i) {
  auto vector = e(std::move(v));
  CHECK(vector.binding == Binding::kPrimary);
  auto index = e(std::forward<I>(i));
  return Temp<T>(cat(vector.text, "[", index.text, "]"), Binding::kPrimary, join_epochs(vector.epoch, index.epoch));
}

}  // namespace tern::wgsl
