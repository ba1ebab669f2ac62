// Typed views of buffers, so that a kernel's arguments are checked against its parameter list.
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

// A part of a buffer with elements of type E: one of the DSL's type tags, or a Uniform's field list.
template <class E>
struct View {
  BufferView view;
};

// Packs a kernel's views in the order of its parameters.
template <class List>
struct ViewsOf;
template <class... E>
struct ViewsOf<wgsl::TypeList<E...>> {
  static std::array<BufferView, sizeof...(E)> pack(const View<E>&... views) { return {views.view...}; }
};

}  // namespace tern::gpu
