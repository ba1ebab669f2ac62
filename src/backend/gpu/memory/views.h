// Buffers with the type of their elements, so that a kernel gets what its parameter list asks for.
#pragma once

#include <array>

#include "backend/gpu/device/device.h"
#include "backend/gpu/wgsl/kernel.h"

namespace tern::gpu {

// A part of a buffer that holds Es: one of the DSL's type tags, or a Uniform's field list.
template <class E>
struct View {
  BufferView view;
};

// The views that a kernel takes, in its order.
template <class List>
struct ViewsOf;
template <class... E>
struct ViewsOf<wgsl::TypeList<E...>> {
  static std::array<BufferView, sizeof...(E)> pack(const View<E>&... views) { return {views.view...}; }
};

}  // namespace tern::gpu
