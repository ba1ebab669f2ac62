// Moves a block of columns from storage to workgroup memory. Its vectors are divided among a workgroup's invocations,
// and are loaded while the block before is multiplied.
#pragma once

#include <vector>

#include "backend/gpu/kernels/common.h"

namespace tern::gpu {

// Stores four f16 values starting at `to`. WGSL stores them one by one.
inline void put_halves(const wgsl::Shared<wgsl::F16>& staged, const wgsl::Name<wgsl::U32>& to,
                       const wgsl::Name<wgsl::Vec4<wgsl::F16>>& values) {
  for (uint32_t k = 0; k < 4; ++k) staged[to + k] = wgsl::at(values, k);
}
inline void put_halves(const wgsl::Shared<wgsl::F16>& staged, const wgsl::Name<wgsl::U32>& to,
                       const wgsl::Name<wgsl::Vec4<wgsl::F32>>& values) {
  for (uint32_t k = 0; k < 4; ++k) staged[to + k] = wgsl::f16(wgsl::at(values, k));
}

template <class V>
class StagedVectors {
 public:
  struct Place {
    wgsl::Name<wgsl::U32> first, to;  // where the first block's vector is in storage; where it is staged
  };

  // place(i): the place of vector i of a block's n. `name`: of the variables for vectors being loaded, of up to `slots`
  // blocks.
  template <class PlaceOf>
  StagedVectors(const char* name, uint32_t n, uint32_t workgroup, const wgsl::LocalIndex& tid, const PlaceOf& place,
                uint32_t slots = 1)
      : n_(n), is_even_(n % workgroup == 0) {
    for (uint32_t first = 0; first < n; first += workgroup) {
      auto i = wgsl::let("i", tid + first);
      const Place of_vector = place(i);
      std::vector<wgsl::Var<V>> next;
      for (uint32_t slot = 0; slot < slots; ++slot) next.push_back(wgsl::var<V>(name));
      vectors_.push_back({i, of_vector, std::move(next)});
    }
  }

  // Starts loading the vectors that are `behind` elements after those of the first block.
  template <class From>
  void fetch(const From& from, const wgsl::Name<wgsl::U32>& behind, uint32_t slot = 0) const {
    for (const Vector& v : vectors_) {
      when_there(v, [&] { v.next[slot] = from[v.place.first + behind]; });
    }
  }

  // Calls put(vector, where it is staged) for the fetched vectors.
  template <class Put>
  void store(const Put& put, uint32_t slot = 0) const {
    for (const Vector& v : vectors_) {
      when_there(v, [&] {
        auto fetched = wgsl::let("fetched", v.next[slot]);
        put(fetched, v.place.to);
      });
    }
  }

 private:
  struct Vector {
    wgsl::Name<wgsl::U32> i;
    Place place;
    std::vector<wgsl::Var<V>> next;  // for each slot
  };
  template <class Body>
  void when_there(const Vector& v, const Body& body) const {
    if (is_even_) {
      body();
    } else {
      wgsl::when(v.i < n_, body);
    }
  }

  uint32_t n_;
  bool is_even_;  // all invocations have the same number
  std::vector<Vector> vectors_;
};

}  // namespace tern::gpu
