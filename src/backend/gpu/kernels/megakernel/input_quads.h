// How float_layers reads a row of activations: four adjacent columns per invocation.
#pragma once

#include <vector>

#include "backend/gpu/kernels/megakernel/mailbox.h"

namespace tern::gpu::layers {

// Distributes the columns of a product's activations over the workgroup's invocations, four adjacent columns at a time.
struct InputQuads {
  uint32_t workgroup, cols;

  uint32_t n() const { return cols / 4; }
  uint32_t takes() const { return (n() + workgroup - 1) / workgroup; }
  bool is_whole(uint32_t k) const { return (k + 1) * workgroup <= n(); }
  // Past the end, the last quad again.
  Name<U32> at(const LocalIndex& tid, uint32_t k) const {
    return is_whole(k) ? let("quad", tid + k * workgroup) : let("quad", min(tid + k * workgroup, n() - 1));
  }
  // Calls body() on the invocations that have a quad.
  template <class Body>
  void where_there(const LocalIndex& tid, uint32_t k, const Body& body) const {
    if (is_whole(k)) return body();
    when(tid + k * workgroup < n(), body);
  }
  // Loads the quads of a vector that begins at values[first].
  template <class Vector>
  std::vector<Name<Vec4<F32>>> load(const Vector& values, const Name<U32>& first, const LocalIndex& tid) const {
    std::vector<Name<Vec4<F32>>> loaded;
    for (uint32_t k = 0; k < takes(); ++k) {
      auto from = let("from_value", first + at(tid, k) * 4u);
      loaded.push_back(load_quad(values, from, "v", "gain"));
    }
    return loaded;
  }
  // The words of a region; waits until they have arrived.
  std::vector<Name<Vec4<F32>>> take(const Mailbox& mailbox, uint32_t region, const LocalIndex& tid,
                                    const Name<U32>& tag) const {
    std::vector<Name<U32>> places;
    for (uint32_t k = 0; k < takes(); ++k) {
      for (const auto& place : mailbox.places_of_quad(region, at(tid, k))) places.push_back(place);
    }
    const auto words = mailbox.wait(places, tag);
    std::vector<Name<Vec4<F32>>> taken;
    for (uint32_t k = 0; k < takes(); ++k) {
      taken.push_back(let("v", vec4f(words[4 * k], words[4 * k + 1], words[4 * k + 2], words[4 * k + 3])));
    }
    return taken;
  }
};

inline Name<F32> greatest_of(const Name<Vec4<F32>>& v) {
  auto size = let("size", abs(v));
  return let("most", max(max(at(size, 0), at(size, 1)), max(at(size, 2), at(size, 3))));
}

}  // namespace tern::gpu::layers
