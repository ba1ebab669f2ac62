// Expressions. Three kinds of value, told apart by what C++ lets you do with them:
//
//   Temp<T>  an unnamed expression: move-only, so it can be used exactly once. Used twice? Name it with let().
//   Name<T>  a `let` or anything else that never changes: copyable, use it as often as you like.
//   Place<T> a `var`, or one element of writable memory: can be read, and as a Var or Ref assigned.
//
// A literal's C++ type is its WGSL type: 1u is u32, 1 is i32, 1.0f is f32.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "backend/gpu/wgsl/types.h"
#include "backend/gpu/wgsl/writer.h"
#include "base/check.h"

namespace tern::wgsl {

// How tightly an expression binds. kOther (comparisons, shifts, bit operations) mixes with nothing without parentheses,
// as WGSL demands.
enum class Binding { kOther, kSum, kProduct, kPrimary };

template <class T>
struct Temp {
  using type = T;
  std::string text;
  Binding binding = Binding::kPrimary;
  // Where the text reads memory that can change: the writer's epoch at that time. Zero otherwise. An expression that is
  // used after a write would silently mean something else, so it is refused (see `text_of`).
  int epoch = 0;

  explicit Temp(std::string t, Binding b = Binding::kPrimary, int at = 0) : text(std::move(t)), binding(b), epoch(at) {}
  Temp(Temp&&) noexcept = default;
  Temp& operator=(Temp&&) = delete;
  Temp(const Temp&) = delete;               // used twice? bind it with let()
  explicit operator bool() const = delete;  // a C++ `if` runs while tracing: use when()
};

template <class T>
struct Name {
  using type = T;
  std::string text;
  explicit operator bool() const = delete;
};

template <class T>
struct Place {
  using type = T;
  std::string text;
  explicit operator bool() const = delete;
};

// e(x): x as an expression.
inline Temp<U32> e(uint32_t v) { return Temp<U32>(std::to_string(v) + "u"); }
inline Temp<I32> e(int32_t v) {
  // WGSL's minus is an operator, and 2147483648i is no i32.
  if (v == std::numeric_limits<int32_t>::min()) return Temp<I32>("i32(-2147483648)");
  return Temp<I32>(std::to_string(v) + "i", v < 0 ? Binding::kSum : Binding::kPrimary);
}
inline Temp<F32> e(float v) {
  CHECK(std::isfinite(v));  // WGSL has no other literals
  char digits[32];
  const std::string text(digits, std::to_chars(digits, digits + sizeof digits, v).ptr);
  return Temp<F32>(text + "f", std::signbit(v) ? Binding::kSum : Binding::kPrimary);
}
Temp<Bool> e(bool) = delete;  // decided while tracing: use C++'s if
template <class T>
Temp<T> e(Temp<T>&& t) {
  if (t.text.empty()) trace_error("an unnamed expression is used twice; bind it with let()");
  return std::move(t);
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
// Two operands of one type, at least one of them not a C++ number.
template <class A, class B>
concept Pair = Value<A> && Value<B> && (Traced<A> || Traced<B>) && std::same_as<TypeOf<A>, TypeOf<B>>;

// The text of an expression that is about to be written.
template <class T>
std::string text_of(Temp<T> t) {
  if (t.epoch != 0 && t.epoch != writer->epoch())
    trace_error(cat("\"", t.text, "\" reads memory that has been written since; bind it with let() where it is read"));
  return std::move(t.text);
}

// The older of two epochs; zero reads nothing.
inline int join_epochs(int a, int b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

namespace detail {
inline std::string parenthesise(const std::string& text, bool yes) { return yes ? cat("(", text, ")") : text; }

template <class R, class A, class B>
Temp<R> binary(Temp<A> a, std::string_view op, Temp<B> b, Binding binding) {
  const bool strict = binding == Binding::kOther;
  std::string left = parenthesise(a.text, strict ? a.binding < Binding::kPrimary : a.binding < binding);
  std::string right = parenthesise(b.text, strict ? b.binding < Binding::kPrimary : b.binding <= binding);
  return Temp<R>(cat(left, " ", op, " ", right), binding, join_epochs(a.epoch, b.epoch));
}

template <class T>
struct BoolLike {
  using type = Bool;
};
template <class T, uint32_t N>
struct BoolLike<Vec<T, N>> {
  using type = Vec<Bool, N>;
};
}  // namespace detail

// NOLINTBEGIN(bugprone-macro-parentheses): types and operators cannot be parenthesised
#define WGSL_OPERATOR(op, binding, Kind, Result)                                         \
  template <class A, class B>                                                            \
    requires Pair<A, B> && Kind<TypeOf<A>>                                               \
  Temp<Result> operator op(A&& a, B&& b) {                                               \
    auto left = e(std::forward<A>(a));                                                   \
    return detail::binary<Result>(std::move(left), #op, e(std::forward<B>(b)), binding); \
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
  auto left = e(std::forward<A>(a));
  return detail::binary<Bool>(std::move(left), "&&", e(std::forward<B>(b)), Binding::kOther);
}
template <class A, class B>
  requires Pair<A, B> && IsBool<TypeOf<A>>
Temp<Bool> operator||(A&& a, B&& b) {
  auto left = e(std::forward<A>(a));
  return detail::binary<Bool>(std::move(left), "||", e(std::forward<B>(b)), Binding::kOther);
}

// Shifts take a u32 amount, whatever is shifted.
template <Traced A, ValueOf<U32> B>
  requires IntegerScalar<TypeOf<A>>
Temp<TypeOf<A>> operator<<(A&& a, B&& b) {
  auto left = e(std::forward<A>(a));
  return detail::binary<TypeOf<A>>(std::move(left), "<<", e(std::forward<B>(b)), Binding::kOther);
}
template <Traced A, ValueOf<U32> B>
  requires IntegerScalar<TypeOf<A>>
Temp<TypeOf<A>> operator>>(A&& a, B&& b) {
  auto left = e(std::forward<A>(a));
  return detail::binary<TypeOf<A>>(std::move(left), ">>", e(std::forward<B>(b)), Binding::kOther);
}

// And vectors of u32 amounts, one for each component.
template <Traced A, ValueOf<Vec4<U32>> B>
  requires std::same_as<TypeOf<A>, Vec4<U32>>
Temp<TypeOf<A>> operator<<(A&& a, B&& b) {
  auto left = e(std::forward<A>(a));
  return detail::binary<TypeOf<A>>(std::move(left), "<<", e(std::forward<B>(b)), Binding::kOther);
}
template <Traced A, ValueOf<Vec4<U32>> B>
  requires std::same_as<TypeOf<A>, Vec4<U32>>
Temp<TypeOf<A>> operator>>(A&& a, B&& b) {
  auto left = e(std::forward<A>(a));
  return detail::binary<TypeOf<A>>(std::move(left), ">>", e(std::forward<B>(b)), Binding::kOther);
}

// A vector times a scalar of its element type.
template <Traced A, Value B>
  requires is_vec<TypeOf<A>> && Number<TypeOf<A>> && std::same_as<Element<TypeOf<A>>, TypeOf<B>>
Temp<TypeOf<A>> operator*(A&& a, B&& b) {
  auto left = e(std::forward<A>(a));
  return detail::binary<TypeOf<A>>(std::move(left), "*", e(std::forward<B>(b)), Binding::kProduct);
}

template <Traced A>
  requires Signed<TypeOf<A>>
Temp<TypeOf<A>> operator-(A&& a) {
  Temp<TypeOf<A>> v = e(std::forward<A>(a));
  return Temp<TypeOf<A>>(cat("-", detail::parenthesise(v.text, v.binding < Binding::kPrimary)), Binding::kSum, v.epoch);
}
template <Traced A>
  requires IsBool<TypeOf<A>>
Temp<Bool> operator!(A&& a) {
  Temp<Bool> v = e(std::forward<A>(a));
  return Temp<Bool>(cat("!", detail::parenthesise(v.text, v.binding < Binding::kPrimary)), Binding::kProduct, v.epoch);
}
template <Traced A>
  requires IntegerScalar<TypeOf<A>>
Temp<TypeOf<A>> operator~(A&& a) {
  Temp<TypeOf<A>> v = e(std::forward<A>(a));
  return Temp<TypeOf<A>>(cat("~", detail::parenthesise(v.text, v.binding < Binding::kPrimary)), Binding::kProduct,
                         v.epoch);
}

// f(a, b): a call with any arguments.
template <class R, class... A>
Temp<R> call(std::string_view function, A&&... args) {
  std::string list;
  int epoch = 0;
  const auto add = [&](auto arg) {
    list += cat(list.empty() ? "" : ", ", arg.text);
    epoch = join_epochs(epoch, arg.epoch);
  };
  (add(e(std::forward<A>(args))), ...);
  return Temp<R>(cat(function, "(", list, ")"), Binding::kPrimary, epoch);
}

// Component i of a vector that has a name.
inline std::string component_text(const std::string& vector, uint32_t i) {
  CHECK(i < 4);
  return cat(vector, ".", std::string(1, "xyzw"[i]));
}
template <class T, uint32_t N>
Name<T> at(const Name<Vec<T, N>>& v, uint32_t i) {
  CHECK(i < N);
  return {component_text(v.text, i)};
}
// The same with an index that is known on the device only.
template <class T, uint32_t N, ValueOf<U32> I>
Temp<T> component(const Name<Vec<T, N>>& v, I&& i) {
  auto index = e(std::forward<I>(i));
  return Temp<T>(cat(v.text, "[", index.text, "]"), Binding::kPrimary, index.epoch);
}

}  // namespace tern::wgsl
