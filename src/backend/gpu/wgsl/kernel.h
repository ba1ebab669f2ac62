// Kernels: the parameter list of a lambda is the interface.
//
//   Kernel k = kernel("scale", 64, [](In<"x", F32> x, Out<"y", F32> y, WorkgroupId wg, LocalIndex tid) { … });
//
// Tracing calls the lambda once and returns a Module. The host side is derived from the same list: Kernel<…>::Bindings
// are the element types of the memory parameters in order, and `views` (gpu/memory/views.h) takes exactly those.
#pragma once

#include <tuple>

#include "backend/gpu/wgsl/memory.h"

namespace tern::wgsl {

// Builtin values.
struct LocalIndex : Name<U32> {
  LocalIndex() : Name<U32>{"tid"} {}
  static void declare() {
    writer->claim("tid");
    writer->builtin("@builtin(local_invocation_index) tid: u32");
  }
};
struct WorkgroupId {
  Name<U32> x{"wg.x"}, y{"wg.y"}, z{"wg.z"};
  static void declare() {
    writer->claim("wg");
    writer->builtin("@builtin(workgroup_id) wg: vec3<u32>");
  }
};
struct NumWorkgroups {
  Name<U32> x{"n_wg.x"}, y{"n_wg.y"}, z{"n_wg.z"};
  static void declare() {
    writer->claim("n_wg");
    writer->builtin("@builtin(num_workgroups) n_wg: vec3<u32>");
  }
};
struct SubgroupSize : Name<U32> {
  SubgroupSize() : Name<U32>{"sg_size"} {}
  static void declare() {
    writer->claim("sg_size");
    writer->needs().subgroups = true;
    writer->builtin("@builtin(subgroup_size) sg_size: u32");
  }
};
struct SubgroupLane : Name<U32> {
  SubgroupLane() : Name<U32>{"lane"} {}
  static void declare() {
    writer->claim("lane");
    writer->needs().subgroups = true;
    writer->builtin("@builtin(subgroup_invocation_id) lane: u32");
  }
};

template <class... T>
struct TypeList {};

namespace detail {
template <class P>
concept IsBinding = requires { P::kAccess; };

template <class Done, class... P>
struct BindingsOf {
  using type = Done;
};
template <class... Done, class P, class... Rest>
struct BindingsOf<TypeList<Done...>, P, Rest...> {
  using type = typename BindingsOf<TypeList<Done...>, Rest...>::type;
};
template <class... Done, IsBinding P, class... Rest>
struct BindingsOf<TypeList<Done...>, P, Rest...> {
  using type = typename BindingsOf<TypeList<Done..., typename P::Element>, Rest...>::type;
};

template <class P>
P declare() {
  P::declare();
  return P{};
}
}  // namespace detail

template <class... P>
struct Kernel {
  using Bindings = typename detail::BindingsOf<TypeList<>, P...>::type;
  Module module;
};

namespace detail {
template <class F, class... P>
Kernel<P...> trace(std::string_view name, uint32_t workgroup_size, F& body, void (F::*)(P...) const) {
  CHECK(writer == nullptr);
  Writer w{std::string(name)};
  writer = &w;
  std::tuple<P...> parameters{declare<P>()...};  // braces: left to right
  std::apply(body, parameters);
  writer = nullptr;
  forget_texts();
  return {w.finish(workgroup_size)};
}
}  // namespace detail

template <class F>
auto kernel(std::string_view name, uint32_t workgroup_size, F body) {
  return detail::trace(name, workgroup_size, body, &F::operator());
}

}  // namespace tern::wgsl
