// Statements. C++ `for` and `if` run while tracing (they unroll, or choose between variants); loop() and when() run on
// the device.
//
// Write `auto x = let("x", …);` as a statement of its own. Inside another call's arguments, C++ does not specify the
// order in which the statements are written.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "backend/gpu/wgsl/values.h"

namespace tern::wgsl {

namespace detail {
// Each writes one statement. Those that introduce a name return it.
Text let(std::string_view name, const Expression& value);
Text var(std::string_view name, std::string_view type, const Expression& value);
void assign(std::string_view place, std::string_view op, const Expression& value);
void open_if(const Expression& condition);
Text open_loop(std::string_view name, const Expression& from, const Expression& to, const Expression& step);
// For an expression that is evaluated more than once, or later: binds it to a name if it reads memory.
Text fixed_text(std::string_view name, const Expression& value);
// Records the device features that a declaration of this type needs.
template <class T>
void note_type() {
  if constexpr (std::same_as<Element<T>, F16>) writer->needs().f16 = true;
  if constexpr (requires { T::note(); }) T::note();
}
}  // namespace detail

template <Value A>
Name<TypeOf<A>> let(std::string_view name, A&& a) {
  return {detail::let(name, e(std::forward<A>(a)))};
}

template <class T, class A>
void assign(const Place<T>& place, std::string_view op, A&& a) {
  detail::assign(place.text, op, e(std::forward<A>(a)));
}

// An assignable place: one element of writable memory, or a component of a var.
template <class T>
struct Ref : Place<T> {
  template <ValueOf<T> A>
  void operator=(A&& a) const {  // NOLINT(misc-unconventional-assign-operator): it writes a statement
    assign(*this, "=", std::forward<A>(a));
  }
  template <ValueOf<T> A>
  void operator+=(A&& a) const {
    assign(*this, "+=", std::forward<A>(a));
  }
  // Without this, C++ would copy the handle and write nothing.
  void operator=(const Ref& other) const { assign(*this, "=", other); }  // NOLINT(misc-unconventional-assign-operator)
  explicit Ref(Text text) : Place<T>{text} {}
  Ref(const Ref&) = default;
};

template <class T>
struct Var : Place<T> {
  explicit Var(Text text) : Place<T>{text} {}
  Var(Var&&) = default;
  Var(const Var&) = delete;  // a C++ copy would be an alias, not a new var
  ~Var() = default;
  template <ValueOf<T> A>
  void operator=(A&& a) const {  // NOLINT(misc-unconventional-assign-operator)
    assign(*this, "=", std::forward<A>(a));
  }
  template <ValueOf<T> A>
  void operator+=(A&& a) const {
    assign(*this, "+=", std::forward<A>(a));
  }
  void operator=(const Var& other) const { assign(*this, "=", other); }  // NOLINT(misc-unconventional-assign-operator)
};

template <Value A>
[[nodiscard]] Var<TypeOf<A>> var(std::string_view name, A&& a) {
  return Var<TypeOf<A>>(detail::var(name, TypeOf<A>::wgsl(), e(std::forward<A>(a))));
}
// Starts as zero. The initializer is explicit although WGSL implies it: in a loop, Dawn on Vulkan was seen to keep the
// value of the previous iteration.
template <class T>
[[nodiscard]] Var<T> var(std::string_view name) {
  detail::note_type<T>();
  return Var<T>(detail::var(name, T::wgsl(), Expression(cat(T::wgsl(), "()"))));
}

template <class T, uint32_t N>
Ref<T> at(const Var<Vec<T, N>>& v, uint32_t i) {
  CHECK(i < N);
  return Ref<T>(component_text(v.text, i));
}

template <ValueOf<Bool> C, class Body>
void when(C&& condition, Body&& body) {
  detail::open_if(e(std::forward<C>(condition)));
  body();
  writer->close();
}
template <ValueOf<Bool> C, class Body, class Else>
void when(C&& condition, Body&& body, Else&& otherwise) {
  detail::open_if(e(std::forward<C>(condition)));
  body();
  writer->reopen("} else {");
  otherwise();
  writer->close();
}

// for (i = from; i < to; i += step) body(i). `to` and `step` are evaluated once, before the loop.
template <ValueOf<U32> A, ValueOf<U32> B, ValueOf<U32> S, class Body>
void loop(std::string_view name, A&& from, B&& to, S&& step, Body&& body) {
  const Text i = detail::open_loop(name, e(std::forward<A>(from)), e(std::forward<B>(to)), e(std::forward<S>(step)));
  body(Name<U32>{i});
  writer->close();
}

inline void return_() { writer->line("return;"); }
void workgroupBarrier();
void storageBarrier();

// Writes a comment into the WGSL text.
void note(std::string_view text);

// The escape hatch: WGSL as text, for what the DSL lacks. Types are still checked around it.
template <class T>
Temp<T> raw(std::string_view text) {
  return Temp<T>(cat("(", text, ")"), Binding::kPrimary, writer->epoch());
}
void raw_statement(std::string_view text);

// Defines a WGSL function that depends on its arguments only. Its C++ body runs once, here. Returns a callable:
//
//   auto dot4 = function("dot4", [](Name<I8x4> a, Name<I8x4> b) { return …; });
template <class R, class... A>
struct Function {
  Text name;
  template <Value... X>
    requires(sizeof...(X) == sizeof...(A)) && (std::same_as<TypeOf<X>, A> && ...)
  Temp<R> operator()(X&&... args) const {
    return call<R>(name, std::forward<X>(args)...);
  }
};

namespace detail {
template <class F, class R, class... A>
Function<typename R::type, A...> define_function(std::string_view name, F& body, R (F::*)(Name<A>...) const) {
  writer->claim(name);
  writer->begin_function();
  std::string parameters;
  int index = 0;
  const auto next = [&]<class T>(std::type_identity<T>) {
    note_type<T>();
    Name<T> parameter{writer->fresh(std::string(1, static_cast<char>('a' + index++)))};
    parameters += cat(parameters.empty() ? "" : ", ", parameter.text, ": ", T::wgsl());
    return parameter;
  };
  std::tuple<Name<A>...> arguments{next(std::type_identity<A>{})...};  // braces: left to right
  writer->line(cat("return ", text_of(std::apply(body, arguments)), ";"));
  writer->end_function(cat("fn ", name, "(", parameters, ") -> ", R::type::wgsl()));
  return {cat(name)};
}
}  // namespace detail

template <class F>
auto function(std::string_view name, F body) {
  return detail::define_function(name, body, &F::operator());
}

}  // namespace tern::wgsl
