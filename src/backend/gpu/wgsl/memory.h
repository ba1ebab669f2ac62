// Memory: its type says which accesses are allowed.
//
//   In<"x", F32>      read-only storage        x[i]
//   Out<"y", F32>     write-only storage       y[i] = …
//   InOut<"z", F32>   read-write storage       z[i] += …
//   Uniform<"p", Field<"pos", U32>, …>         p.get<"pos">()
//   Immediates<"im", Field<…>…>                im.get<"…">()
//   shared<F32>("tile", n)                     workgroup memory
//
// The first five are parameters of a kernel's lambda (kernel.h). `Element` is the element type that the host binds.
#pragma once

#include "backend/gpu/wgsl/statements.h"

namespace tern::wgsl {

namespace detail {
// "array[index]". An index that reads memory is bound to a name first, so that it always refers to the same element.
Text element_text(std::string_view array, const Expression& index);
// The same for memory that kernels write.
Text written_element_text(std::string_view array, const Expression& index);
Text atomic_text(std::string_view function, std::string_view place, const Expression& value);

struct NameAndType {
  std::string_view name, type;
};
void declare_array(std::string_view name, Access access, std::string_view type, uint32_t element_bytes);
void declare_struct(std::string_view type_name, std::span<const NameAndType> fields);
Text declare_shared(std::string_view name, std::string_view type, uint32_t n, uint32_t bytes);
}  // namespace detail

template <Str N, class T>
struct In {
  using Element = T;
  static constexpr Access kAccess = Access::kRead;
  static void declare() {
    detail::note_type<T>();
    detail::declare_array(N.view(), kAccess, T::wgsl(), T::kBytes);
  }
  static std::string_view name() { return N.view(); }
  template <ValueOf<U32> I>
  Temp<T> operator[](I&& i) const {
    return Temp<T>(detail::element_text(N.view(), e(std::forward<I>(i))));
  }
};

// An element that can be written but not read.
template <class T>
struct WriteRef {
  Text text;
  template <ValueOf<T> A>
  void operator=(A&& a) const {  // NOLINT(misc-unconventional-assign-operator)
    assign(Place<T>{text}, "=", std::forward<A>(a));
  }
  explicit WriteRef(Text t) : text(t) {}
  WriteRef(const WriteRef&) = default;
  void operator=(const WriteRef&) const = delete;
};

template <Str N, class T>
struct Out {
  using Element = T;
  static constexpr Access kAccess = Access::kReadWrite;
  static void declare() {
    detail::note_type<T>();
    detail::declare_array(N.view(), kAccess, T::wgsl(), T::kBytes);
  }
  template <ValueOf<U32> I>
  WriteRef<T> operator[](I&& i) const {
    return WriteRef<T>(detail::written_element_text(N.view(), e(std::forward<I>(i))));
  }
};

template <Str N, class T>
struct InOut {
  using Element = T;
  static constexpr Access kAccess = Access::kReadWrite;
  static void declare() { Out<N, T>::declare(); }
  static std::string_view name() { return N.view(); }
  template <ValueOf<U32> I>
  Ref<T> operator[](I&& i) const {
    return Ref<T>(detail::written_element_text(N.view(), e(std::forward<I>(i))));
  }
};

// Named scalars (or vectors of them), in the order of the C++ struct that the host writes. The layout follows WGSL's
// rules: where a vector follows scalars, the host's struct needs the same gap (Uniform<…>::Layout::offset_of).
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

// Offsets and size by WGSL's struct layout rules. A field starts at a multiple of its own alignment, which for scalars
// and vectors of two or four equals their size. The struct's size is a multiple of the largest alignment.
template <class... F>
struct StructLayout {
  static constexpr uint32_t kAlign = std::max({F::Type::kBytes...});
  static constexpr uint32_t offset_of(std::string_view name) {
    uint32_t at = 0, found = 0;
    ((at = round_up_to(at, F::Type::kBytes), found = F::name() == name ? at : found, at += F::Type::kBytes), ...);
    return found;
  }
  static constexpr uint32_t bytes() {
    uint32_t at = 0;
    ((at = round_up_to(at, F::Type::kBytes) + F::Type::kBytes), ...);
    return round_up_to(at, kAlign);
  }
  static constexpr uint32_t round_up_to(uint32_t n, uint32_t step) { return (n + step - 1) / step * step; }
};

template <class... F>
void declare_struct(std::string_view type_name) {
  const NameAndType fields[] = {{F::name(), F::Type::wgsl()}...};
  (note_type<typename F::Type>(), ...);
  declare_struct(type_name, fields);
}
}  // namespace detail

template <Str N, class... F>
struct Uniform {
  using Element = Uniform;  // the host binds exactly this type
  static constexpr Access kAccess = Access::kUniform;
  using Layout = detail::StructLayout<F...>;
  static constexpr uint32_t kBytes = Layout::round_up_to(Layout::bytes(), 16);
  static void declare() {
    const Text type = cat(N.view(), "_fields");
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
  using Layout = detail::StructLayout<F...>;
  static constexpr uint32_t kBytes = Layout::round_up_to(Layout::bytes(), 4);
  static void declare() {
    const Text type = cat(N.view(), "_fields");
    detail::declare_struct<F...>(type);
    writer->claim(N.view());
    writer->declare(cat("var<immediate> ", N.view(), ": ", type, ";"));
    CHECK(writer->needs().immediate_bytes == 0);  // WGSL allows only one
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
  Text text;
  std::string_view name() const { return text; }
  template <ValueOf<U32> I>
  Ref<T> operator[](I&& i) const {
    return Ref<T>(detail::written_element_text(text, e(std::forward<I>(i))));
  }
};

template <class T>
Shared<T> shared(std::string_view name, uint32_t n) {
  detail::note_type<T>();
  return {detail::declare_shared(name, T::wgsl(), n, n * T::kBytes)};
}

// ---- Atomics: Shared<Atomic<U32>> or InOut<"n", Atomic<U32>>. Each is written where it is called.
template <class T, ValueOf<T> A>
Name<T> atomicAdd(const Place<Atomic<T>>& place, A&& a) {
  auto old = let("old", raw<T>(detail::atomic_text("atomicAdd", place.text, e(std::forward<A>(a)))));
  writer->wrote();
  return old;
}
template <class T, ValueOf<T> A>
Name<T> atomicMax(const Place<Atomic<T>>& place, A&& a) {
  auto old = let("old", raw<T>(detail::atomic_text("atomicMax", place.text, e(std::forward<A>(a)))));
  writer->wrote();
  return old;
}
template <class T>
Name<T> atomicLoad(const Place<Atomic<T>>& place) {
  return let("now", raw<T>(cat("atomicLoad(&", place.text, ")")));
}
template <class T, ValueOf<T> A>
void atomicStore(const Place<Atomic<T>>& place, A&& a) {
  raw_statement(cat(detail::atomic_text("atomicStore", place.text, e(std::forward<A>(a))), ";"));
}

// Element 0 of workgroup memory. The compiler knows that the result is uniform across the workgroup, so control flow
// that depends on it may contain barriers. Acts as a barrier before and after.
template <class T>
Name<T> workgroupUniformLoad(const Shared<Atomic<T>>& array) {
  writer->refuse_in_function("a barrier");
  auto same = let("same", raw<T>(cat("workgroupUniformLoad(&", array.name(), "[0u])")));
  writer->wrote();
  return same;
}

}  // namespace tern::wgsl
