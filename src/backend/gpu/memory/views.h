// Buffers with the type of their elements, so that a kernel gets what its parameter list asks for.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/gpu/wgsl/kernel.h"

namespace tern::gpu {

// The first `count` values of a view.
template <class T>
Result<std::vector<T>> read_values(Device& device, BufferView view, size_t count) {
  std::vector<T> values(count);
  view.bytes = count * sizeof(T);
  TRY_STATUS(device.read(view, std::as_writable_bytes(std::span(values))));
  return values;
}

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
