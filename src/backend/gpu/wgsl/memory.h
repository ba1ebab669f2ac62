// Memory: what may be done with it is in its type.
//
//   In<"x", F32>      storage that is only read          x[i]
//   Out<"y", F32>     storage that is only written       y[i] = …
//   InOut<"z", F32>   storage that is read and written   z[i] += …
//   Uniform<"p", Field<"pos", U32>, …>                   p.get<"pos">()
//   Immediates<"im", Field<…>…>                          im.get<"…">()
//   shared<F32>("tile", n)                               workgroup memory
//
// The first five are parameters of a kernel's lambda (kernel.h). `Element` is what the host has to give.
#pragma once

#include "backend/gpu/wgsl/statements.h"

namespace tern::wgsl {

namespace detail {
// "array[index]". An index that reads memory is bound to a name first, so that the element stays the same one.
template <Value I>
std::string element_text(std::string_view array, I&& index) {
  auto i = e(std::forward<I>(index));
  if (i.epoch == 0) return cat(array, "[", i.text, "]");
  return cat(array, "[", let("at", std::move(i)).text, "]");
}
template <class T>
void note_type() {
  if constexpr (std::same_as<wgsl::Element<T>, F16>) writer->needs().f16 = true;
}
}  // namespace detail

template <Str N, class T>
struct In {
  using Element = T;
  static constexpr Access kAccess = Access::kRead;
  static void declare() {
    writer->claim(N.view());
    detail::note_type<T>();
    writer->bind({std::string(N.view()), kAccess, T::kBytes},
                 cat("var<storage, read> ", N.view(), ": array<", T::wgsl(), ">;"));
  }
  template <ValueOf<U32> I>
  Temp<T> operator[](I&& i) const {
    return Temp<T>(detail::element_text(N.view(), std::forward<I>(i)));
  }
};

// An element that may be written and not read.
template <class T>
struct WriteRef {
  std::string text;
  template <ValueOf<T> A>
  void operator=(A&& a) const {  // NOLINT(misc-unconventional-assign-operator)
    assign(Place<T>{text}, "=", std::forward<A>(a));
  }
  explicit WriteRef(std::string t) : text(std::move(t)) {}
  WriteRef(const WriteRef&) = default;
  void operator=(const WriteRef&) const = delete;
};

template <Str N, class T>
struct Out {
  using Element = T;
  static constexpr Access kAccess = Access::kReadWrite;
  static void declare() {
    writer->claim(N.view());
    detail::note_type<T>();
    writer->bind({std::string(N.view()), kAccess, T::kBytes},
                 cat("var<storage, read_write> ", N.view(), ": array<", T::wgsl(), ">;"));
  }
  template <ValueOf<U32> I>
  WriteRef<T> operator[](I&& i) const {
    return WriteRef<T>(detail::element_text(N.view(), std::forward<I>(i)));
  }
};

template <Str N, class T>
struct InOut {
  using Element = T;
  static constexpr Access kAccess = Access::kReadWrite;
  static void declare() { Out<N, T>::declare(); }
  template <ValueOf<U32> I>
  Ref<T> operator[](I&& i) const {
    return Ref<T>(detail::element_text(N.view(), std::forward<I>(i)));
  }
};

// Named scalars (or vectors of them), in the order and with the layout of the C++ struct that the host writes.
template <Str N, class T>
struct Field {
  using Type = T;
  static constexpr std::string_view name() { return N.view(); }
};

namespace detail {
template <Str N, class... F>
struct FieldNamed;
template <Str N, class First, class... Rest>
struct FieldNamed<N, First, Rest...> {
  using Type = typename FieldNamed<N, Rest...>::Type;
};
template <Str N, class First, class... Rest>
  requires(First::name() == N.view())
struct FieldNamed<N, First, Rest...> {
  using Type = typename First::Type;
};

template <class... F>
void declare_struct(std::string_view type_name) {
  writer->claim(type_name);
  std::string fields;
  ((fields += cat(fields.empty() ? " " : ", ", F::name(), ": ", F::Type::wgsl())), ...);
  writer->declare(cat("struct ", type_name, " {", fields, " }"));
}
template <class... F>
constexpr uint32_t struct_bytes() {
  return (F::Type::kBytes + ...);
}
}  // namespace detail

template <Str N, class... F>
struct Uniform {
  using Element = Uniform;  // the host gives exactly this
  static constexpr Access kAccess = Access::kUniform;
  static constexpr uint32_t kBytes = (detail::struct_bytes<F...>() + 15) / 16 * 16;
  static void declare() {
    const std::string type = cat(N.view(), "_fields");
    detail::declare_struct<F...>(type);
    writer->claim(N.view());
    writer->bind({std::string(N.view()), kAccess, kBytes}, cat("var<uniform> ", N.view(), ": ", type, ";"));
  }
  template <Str Wanted>
  Name<typename detail::FieldNamed<Wanted, F...>::Type> get() const {
    return {cat(N.view(), ".", Wanted.view())};
  }
};

template <Str N, class... F>
struct Immediates {
  static constexpr uint32_t kBytes = detail::struct_bytes<F...>();
  static void declare() {
    const std::string type = cat(N.view(), "_fields");
    detail::declare_struct<F...>(type);
    writer->claim(N.view());
    writer->declare(cat("var<immediate> ", N.view(), ": ", type, ";"));
    CHECK(writer->needs().immediate_bytes == 0);  // WGSL allows one
    writer->needs().immediate_bytes = kBytes;
  }
  template <Str Wanted>
  Name<typename detail::FieldNamed<Wanted, F...>::Type> get() const {
    return {cat(N.view(), ".", Wanted.view())};
  }
};

// ---- Workgroup memory
template <class T>
struct Shared {
  using Element = T;
  std::string text;
  template <ValueOf<U32> I>
  Ref<T> operator[](I&& i) const {
    return Ref<T>(detail::element_text(text, std::forward<I>(i)));
  }
};

template <class T>
Shared<T> shared(std::string_view name, uint32_t n) {
  detail::note_type<T>();
  const std::string fresh = writer->fresh(name);
  writer->declare(cat("var<workgroup> ", fresh, ": array<", T::wgsl(), ", ", std::to_string(n), ">;"));
  writer->workgroup_memory(n * T::kBytes);
  return {fresh};
}

// ---- Atomics: Shared<Atomic<U32>> or InOut<"n", Atomic<U32>>. Emitted where they are called.
template <class T, ValueOf<T> A>
Name<T> atomicAdd(const Place<Atomic<T>>& place, A&& a) {
  auto old = let("old", raw<T>(cat("atomicAdd(&", place.text, ", ", text_of(e(std::forward<A>(a))), ")")));
  writer->wrote();
  return old;
}
template <class T, ValueOf<T> A>
Name<T> atomicMax(const Place<Atomic<T>>& place, A&& a) {
  auto old = let("old", raw<T>(cat("atomicMax(&", place.text, ", ", text_of(e(std::forward<A>(a))), ")")));
  writer->wrote();
  return old;
}
template <class T>
Name<T> atomicLoad(const Place<Atomic<T>>& place) {
  return let("now", raw<T>(cat("atomicLoad(&", place.text, ")")));
}
template <class T, ValueOf<T> A>
void atomicStore(const Place<Atomic<T>>& place, A&& a) {
  raw_statement(cat("atomicStore(&", place.text, ", ", text_of(e(std::forward<A>(a))), ");"));
}

}  // namespace tern::wgsl
